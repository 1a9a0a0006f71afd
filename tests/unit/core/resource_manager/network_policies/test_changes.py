"""Which changes matter, whose policy it is, and what of an object is kept."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.api.network_policies import kept_of_policy
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies import service_changed, service_of_policy
from hedgerow.resource_manager.network_policies.changes import (
    ingress_changed,
    kept_of_ingress,
    kept_of_namespace,
    kept_of_service,
)
from tests.unit.core.resource_manager.network_policies.objects import (
    HTTP,
    backend,
    ingress,
    namespace,
    ours,
    policy,
    service,
)

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
    assert service_changed(kept_of_service(old), kept_of_service(new)) is expected


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

    assert kept_of_service(whole) == {
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

    kept = kept_of_policy(whole)

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
    assert kept_of_namespace(namespace("b", {"team": "x"}, terminating=True)) == {
        "metadata": {
            "name": "b",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"team": "x", "kubernetes.io/metadata.name": "b"},
        },
    }


def test_an_ingress_is_kept_with_its_rules() -> None:
    whole = ingress(backend(80))
    whole["spec"]["tls"] = [{"secretName": "x"}]

    assert kept_of_ingress(whole)["spec"] == {"rules": whole["spec"]["rules"]}
    assert kept_of_ingress({"metadata": {"name": "x", "namespace": "y"}})["spec"] == {"rules": []}
