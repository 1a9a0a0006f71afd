"""What the controller watches, and which Services a change concerns."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import service_of_policy, transform_policy
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Change, Watch, all_keys, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow.resource_manager.network_policies.controller import (
    ingress_changed,
    service_changed,
    transform_ingress,
    transform_namespace,
    transform_service,
)
from tests.snapshots import snapshot_over
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    HTTP,
    backend,
    ingress,
    namespace,
    ours,
    policy,
    service,
)

CONTROLLER = network_policy_controller(BEHIND_INGRESS)
CART, ORDERS = ObjectKey("shop", "cart"), ObjectKey("shop", "orders")


def watch_on(resource: Resource) -> Watch:
    return next(watch for watch in CONTROLLER.watches if watch.resource == resource)


def test_it_watches_services_policies_namespaces_and_ingresses() -> None:
    assert [watch.resource for watch in CONTROLLER.watches] == [SERVICES, NETWORK_POLICIES, NAMESPACES, INGRESSES]
    assert CONTROLLER.name == "networkpolicy"
    assert CONTROLLER.primary == SERVICES
    assert CONTROLLER.owned in CONTROLLER.indexes


def test_it_does_not_watch_ingresses_where_no_ingress_controller_is_configured() -> None:
    watches = network_policy_controller(NetworkPolicyConfig()).watches

    assert [watch.resource for watch in watches] == [SERVICES, NETWORK_POLICIES, NAMESPACES]


def test_it_reads_nothing_but_metadata_of_namespaces() -> None:
    assert [watch.resource for watch in CONTROLLER.watches if watch.metadata_only] == [NAMESPACES]


def test_it_may_write_network_policies_and_nothing_else() -> None:
    assert CONTROLLER.permissions == (
        Permission("networking.k8s.io", "networkpolicies", ("create", "patch", "delete")),
    )


def test_five_services_at_once_unless_said_otherwise() -> None:
    assert CONTROLLER.concurrency == 5
    assert network_policy_controller(BEHIND_INGRESS, concurrency=20).concurrency == 20


@pytest.mark.parametrize(
    ("resource", "old", "new", "keys"),
    [
        pytest.param(SERVICES, None, service(), {CART}, id="a created Service concerns itself"),
        pytest.param(SERVICES, service(), None, {CART}, id="a deleted Service concerns itself"),
        pytest.param(SERVICES, service(), service(labels={"a": "b"}), set(), id="an irrelevant update concerns nobody"),
        pytest.param(SERVICES, service(), service(selector={"a": "b"}), {CART}, id="a changed Service concerns itself"),
        pytest.param(NETWORK_POLICIES, None, policy("x"), {CART}, id="a created policy concerns its Service"),
        pytest.param(NETWORK_POLICIES, policy("x"), policy("x"), {CART}, id="any update of a policy concerns it"),
        pytest.param(NETWORK_POLICIES, policy("x"), None, {CART}, id="a deleted policy concerns it"),
        pytest.param(NETWORK_POLICIES, None, policy("x", None), set(), id="a policy of nobody concerns nobody"),
        pytest.param(NETWORK_POLICIES, policy("x"), policy("x", None), {CART}, id="labels were stripped"),
        pytest.param(
            NETWORK_POLICIES, policy("x"), policy("x", "shop/orders"), {CART, ORDERS}, id="a policy changed hands"
        ),
        pytest.param(INGRESSES, None, ingress(backend(80)), {CART}, id="a created Ingress concerns its backends"),
        pytest.param(INGRESSES, ingress(backend(80)), None, {CART}, id="a deleted Ingress concerns its backends"),
        pytest.param(INGRESSES, ingress(backend(80)), ingress(backend(80)), set(), id="not an unchanged one"),
        pytest.param(
            INGRESSES, ingress(backend(80)), ingress(backend(80, "orders")), {CART, ORDERS}, id="old and new backends"
        ),
    ],
)
def test_a_change_concerns_the_services_whose_policies_it_may_alter(
    resource: Resource, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, keys: set[ObjectKey]
) -> None:
    snapshot = snapshot_over(CONTROLLER, {SERVICES: [service(), service(name="orders")]})
    watch = watch_on(resource)
    change = Change(old and watch.transform(old), new and watch.transform(new))

    assert concerned_keys(watch, change, snapshot) == keys


WEB = {"role": "web"}
TO_WEB = service({"namespace-selectors": '[{"matchLabels": {"role": "web"}}]'}, name="to-web")
TO_NONE = service({"namespace-selectors": "[]"}, name="to-none")
BROKEN = service({"namespace-selectors": "["}, name="broken")
NEAR, FAR = service(), service(name="far", namespace="web")


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        pytest.param(None, namespace("b"), set(), id="one that nobody selects concerns nobody"),
        pytest.param(None, namespace("web"), {"far"}, id="a created one concerns its own Services"),
        pytest.param(namespace("web"), None, {"far"}, id="and a deleted one"),
        pytest.param(namespace("web"), namespace("web"), {"far"}, id="and any update"),
        pytest.param(None, namespace("b", WEB), {"to-web"}, id="a created one concerns those that select it"),
        pytest.param(namespace("b", WEB), None, {"to-web"}, id="and a deleted one"),
        pytest.param(namespace("b"), namespace("b", WEB), {"to-web"}, id="and one that is selected from now on"),
        pytest.param(namespace("b", WEB), namespace("b"), {"to-web"}, id="and one that is not any more"),
        pytest.param(namespace("b", WEB), namespace("b", WEB, terminating=True), {"to-web"}, id="and one that goes"),
        pytest.param(
            None,
            namespace("garden"),
            {"cart", "far", "to-web", "to-none", "broken"},
            id="the ingress controller's concerns every Service",
        ),
    ],
)
def test_a_namespace_concerns_the_services_that_depend_on_it(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, names: set[str]
) -> None:
    snapshot = snapshot_over(CONTROLLER, {SERVICES: [NEAR, FAR, TO_WEB, TO_NONE, BROKEN]})
    watch = watch_on(NAMESPACES)
    change = Change(old and watch.transform(old), new and watch.transform(new))

    assert {key.name for key in concerned_keys(watch, change, snapshot)} == names


def test_a_namespace_is_selected_by_its_name_as_well() -> None:
    by_name = service({"namespace-selectors": '[{"matchLabels": {"kubernetes.io/metadata.name": "b"}}]'})
    snapshot = snapshot_over(CONTROLLER, {SERVICES: [by_name]})

    assert concerned_keys(watch_on(NAMESPACES), Change(None, namespace("b")), snapshot) == {CART}


def test_a_namespace_concerns_nobody_where_there_are_no_services() -> None:
    change = Change(None, namespace("b"))

    assert concerned_keys(watch_on(NAMESPACES), change, snapshot_over(CONTROLLER)) == frozenset()


def test_policies_without_a_service_have_a_key_of_their_own() -> None:
    objects = {SERVICES: [service()], NETWORK_POLICIES: [policy("x", "gone/away"), policy("y"), policy("z", None)]}

    assert all_keys(CONTROLLER, snapshot_over(CONTROLLER, objects)) == [ObjectKey("gone", "away"), CART]


PLAIN = service()
ANNOTATED = service({"from-foo-allowed-ports": "[]", "from-world-to-ports": "[]", "namespace-selectors": "[]"})
DELETED: Mapping[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def with_spec(**fields: Any) -> Mapping[str, Any]:
    return {**PLAIN, "spec": {**PLAIN["spec"], **fields}}


def with_metadata(**fields: Any) -> Mapping[str, Any]:
    return {**PLAIN, "metadata": {**PLAIN["metadata"], **fields}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(PLAIN, PLAIN, False, id="nothing"),
        pytest.param(PLAIN, with_metadata(labels={"a": "b"}), False, id="labels"),
        pytest.param(PLAIN, with_metadata(resourceVersion="2"), False, id="resource version"),
        pytest.param(PLAIN, with_spec(type="NodePort"), False, id="type"),
        pytest.param(PLAIN, with_metadata(annotations={"a": "b"}), False, id="unrelated annotation"),
        pytest.param(PLAIN, with_metadata(annotations=None), False, id="no annotations for empty ones"),
        pytest.param(PLAIN, service({"namespace-selectors": ""}), False, id="empty annotation for an absent one"),
        pytest.param(with_spec(selector=None), with_spec(selector={}), False, id="empty selector for an absent one"),
        pytest.param(with_spec(ports=None), with_spec(ports=[]), False, id="no ports for absent ones"),
        pytest.param(PLAIN, service(**DELETED), True, id="deletion timestamp appeared"),
        pytest.param(service(**DELETED), service(**DELETED), False, id="deletion timestamp was there before"),
        pytest.param(PLAIN, service(selector={"app": "x"}), True, id="selector changed"),
        pytest.param(PLAIN, with_spec(selector=None), True, id="selector removed"),
        pytest.param(PLAIN, service(ports=[{**HTTP, "targetPort": 9090}]), True, id="target port changed"),
        pytest.param(PLAIN, service(ports=[{**HTTP, "name": "http"}]), True, id="port name changed"),
        pytest.param(PLAIN, service(ports=[]), True, id="ports removed"),
        pytest.param(PLAIN, service({"namespace-selectors": "[{}]"}), True, id="namespace selectors added"),
        pytest.param(ANNOTATED, PLAIN, True, id="annotations removed"),
        pytest.param(PLAIN, service({"pod-label-selector-namespace-alias": "x"}), True, id="namespace alias added"),
        pytest.param(PLAIN, service({"from-world-to-ports": "[]"}), True, id="world ports added"),
        pytest.param(PLAIN, service({"from-foo-allowed-ports": "[]"}), True, id="alias added"),
        pytest.param(PLAIN, service({"from-foo-allowed-ports": ""}), True, id="empty alias added"),
        pytest.param(
            service({"from-foo-allowed-ports": "[]"}),
            service({"from-foo-allowed-ports": "null"}),
            True,
            id="ports of an alias changed",
        ),
        pytest.param(
            service({"from-foo-allowed-ports": "[]"}),
            service({"from-bar-allowed-ports": "[]"}),
            True,
            id="alias renamed",
        ),
        pytest.param({}, {}, False, id="objects without anything"),
    ],
)
def test_an_update_of_a_service_matters_only_if_what_the_rules_read_changed(
    *, old: Mapping[str, Any], new: Mapping[str, Any], expected: bool
) -> None:
    assert service_changed(old, new) is expected
    assert service_changed(transform_service(old), transform_service(new)) is expected


def test_an_update_of_an_ingress_matters_only_if_its_rules_changed() -> None:
    plain = ingress(backend(80))
    relabelled = {**plain, "metadata": {**plain["metadata"], "labels": {"a": "b"}}}
    other_default = {**plain, "spec": {**plain["spec"], "defaultBackend": backend(81)}}

    assert not ingress_changed(plain, relabelled)
    assert not ingress_changed(plain, other_default)
    assert ingress_changed(plain, ingress(backend(81)))
    assert ingress_changed(plain, ingress(backend(80), backend(81)))


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (ours({"service-name": "cart", "service-namespace": "shop"}), (ObjectKey("shop", "cart"),)),
        (ours({"service-name": "cart"}), ()),
        (ours({"service-namespace": "shop"}), ()),
        ({}, ()),
        (None, ()),
    ],
)
def test_a_policy_belongs_to_the_service_that_both_its_labels_name(
    labels: Mapping[str, str] | None, keys: tuple[ObjectKey, ...]
) -> None:
    assert service_of_policy({"metadata": {"name": "x", "namespace": "y", "labels": labels}}) == keys


def test_an_object_without_metadata_is_nobodys_policy() -> None:
    assert service_of_policy({}) == ()


def test_a_service_is_kept_without_what_nobody_reads() -> None:
    whole = service({"from-foo-allowed-ports": "[]"}, uid="u", resourceVersion="7", labels={"a": "b"})
    whole["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "long"
    whole["spec"]["clusterIP"] = "10.0.0.1"

    assert transform_service(whole) == {
        "metadata": {
            "name": "cart",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "7",
            "annotations": ours({"from-foo-allowed-ports": "[]"}),
        },
        "spec": {"selector": {"app": "cart"}, "ports": [HTTP]},
    }


def test_a_policy_is_kept_with_spec_description_and_the_labels_of_its_owner() -> None:
    whole = policy("x", spec={"podSelector": {"matchLabels": {"a": "b"}}})
    whole["metadata"] |= {
        "uid": "u",
        "managedFields": [{}],
        "annotations": {"gardener.cloud/description": "d", "a": ""},
    }
    whole["metadata"]["labels"]["other"] = "x"

    kept = transform_policy(whole)

    assert kept == {
        "metadata": {
            "name": "x",
            "namespace": "shop",
            "uid": "u",
            "labels": ours({"service-name": "cart", "service-namespace": "shop"}),
            "annotations": {"gardener.cloud/description": "d"},
        },
        "spec": {"podSelector": {"matchLabels": {"a": "b"}}},
    }


def test_a_namespace_is_kept_with_its_labels_and_the_one_that_names_it() -> None:
    assert transform_namespace(namespace("b", {"team": "x"}, terminating=True)) == {
        "metadata": {
            "name": "b",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"team": "x", "kubernetes.io/metadata.name": "b"},
        },
    }


def test_an_ingress_is_kept_with_its_rules() -> None:
    whole = ingress(backend(80))
    whole["spec"]["tls"] = [{"secretName": "x"}]

    assert transform_ingress(whole)["spec"] == {"rules": whole["spec"]["rules"]}
    assert "spec" not in transform_ingress({"metadata": {"name": "x", "namespace": "y"}})


@pytest.mark.parametrize("transform", [transform_service, transform_ingress])
def test_a_spec_of_another_shape_is_kept_so_that_it_can_be_told(transform: Callable[[Manifest], Manifest]) -> None:
    assert transform({"metadata": {"name": "x", "namespace": "y"}, "spec": [1]})["spec"] == [1]
