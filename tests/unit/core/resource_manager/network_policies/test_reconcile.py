"""What is written so that the policies of a Service are what it asks for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.machinery.controller import Context
from hedgerow.machinery.manifests import snapshot_of
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Create, Delete, Event, MergePatch, Plan
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from tests.executions import plan_of
from tests.snapshots import snapshot_over
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    DOMAIN,
    backend,
    ingress,
    namespace,
    ours,
    policy,
    service,
)

CART = ObjectKey("shop", "cart")
SHOP = namespace("shop")
RESOURCES = {"Service": SERVICES, "Namespace": NAMESPACES, "NetworkPolicy": NETWORK_POLICIES, "Ingress": INGRESSES}


def plan(*objects: Manifest, config: NetworkPolicyConfig = BEHIND_INGRESS) -> Plan:
    """What a look at shop/cart decides in a world of these objects."""
    controller = network_policy_controller(config)
    world: dict[Resource, list[Manifest]] = {}
    for manifest in objects:
        world.setdefault(RESOURCES[manifest["kind"]], []).append(manifest)
    snapshot = snapshot_over(controller, world)
    return plan_of(controller.reconcile(CART, snapshot, Context(datetime(2026, 1, 1, tzinfo=UTC), config)))


def created(by: Plan) -> list[dict[str, Any]]:
    """What a plan creates, as a server would hand it back."""
    manifests = [dict(action.manifest) for action in by.actions if isinstance(action, Create)]
    for number, manifest in enumerate(manifests):
        manifest["metadata"] = {**manifest["metadata"], "uid": f"uid-{number}", "resourceVersion": f"{number}"}
    return manifests


def deleted(by: Plan) -> list[str]:
    return [str(action.key) for action in by.actions if isinstance(action, Delete)]


def test_what_is_missing_is_created() -> None:
    actions = [action for action in plan(SHOP, service()).actions if isinstance(action, Create)]

    assert [(action.key.name, action.reason) for action in actions] == [
        ("egress-to-cart-tcp-8080", "service-port"),
        ("ingress-to-cart-tcp-8080", "service-port"),
    ]


def test_what_is_as_it_should_be_is_left_alone() -> None:
    assert plan(SHOP, service(), *created(plan(SHOP, service()))) == Plan()


def test_only_what_differs_is_patched_and_only_if_nobody_else_was_faster() -> None:
    egress, other = created(plan(SHOP, service()))
    edited = {**egress, "spec": {**egress["spec"], "podSelector": {"matchLabels": {"mine": "x"}}, "ingress": [{}]}}

    assert plan(SHOP, service(), edited, other).actions == (
        MergePatch(
            NETWORK_POLICIES,
            ObjectKey("shop", "egress-to-cart-tcp-8080"),
            {
                "spec": {
                    "ingress": None,
                    "podSelector": {"matchLabels": {"mine": None, f"{DOMAIN}/to-cart-tcp-8080": "allowed"}},
                }
            },
            "service-port",
            "0",
        ),
    )


def test_a_policy_of_a_wanted_name_is_taken_over_with_labels_description_and_spec() -> None:
    wanted, other = created(plan(SHOP, service()))
    foreign = policy(wanted["metadata"]["name"], "shop/orders", spec=wanted["spec"])

    assert plan(SHOP, service(), foreign, other).actions == (
        MergePatch(
            NETWORK_POLICIES,
            ObjectKey("shop", "egress-to-cart-tcp-8080"),
            {
                "metadata": {
                    "labels": ours({"service-name": "cart"}),
                    "annotations": wanted["metadata"]["annotations"],
                }
            },
            "service-port",
        ),
    )


def test_a_policy_whose_spec_in_a_file_is_no_mapping_gets_one() -> None:
    wanted, other = created(plan(SHOP, service()))

    (action,) = plan(SHOP, service(), {**wanted, "spec": "nonsense"}, other).actions

    assert isinstance(action, MergePatch)
    assert action.patch == {"spec": wanted["spec"]}


def test_what_is_superfluous_is_deleted_as_it_was_seen() -> None:
    old = policy("old", namespace="elsewhere")
    old["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    current = created(plan(SHOP, service()))

    assert plan(SHOP, service(), old, policy("foreign", None), policy("theirs", "shop/orders"), *current).actions == (
        Delete(NETWORK_POLICIES, ObjectKey("elsewhere", "old"), "no-longer-asked-for", "u", "7"),
    )


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        pytest.param([SHOP], "service-gone", id="gone"),
        pytest.param([SHOP, service(deletionTimestamp="2026-01-01T00:00:00Z")], "service-terminating", id="going"),
        pytest.param([SHOP, service(selector={})], "service-without-selector", id="no selector"),
        pytest.param([namespace("shop", terminating=True), service()], "namespace-terminating", id="terminating"),
    ],
)
def test_a_service_that_gets_no_policies_loses_those_it_has_in_order(world: list[Manifest], reason: str) -> None:
    policies = [policy("b"), policy("a"), policy("z", namespace="b"), policy("theirs", "shop/orders")]

    assert plan(*world, *policies) == Plan(
        tuple(
            Delete(NETWORK_POLICIES, ObjectKey(home, name), reason)
            for home, name in (("b", "z"), ("shop", "a"), ("shop", "b"))
        )
    )


def test_annotations_that_cannot_be_understood_stop_every_write() -> None:
    subject = service({"from-x-allowed-ports": "x", "namespace-selectors": "[1]"}, uid="u")
    stopped = plan(SHOP, subject, policy("old"))

    assert stopped.actions == ()
    assert [str(failure) for failure in stopped.failures] == [
        f"Service shop/cart: metadata.annotations[{DOMAIN}/from-x-allowed-ports]: is not valid JSON",
        (
            f"Service shop/cart: metadata.annotations[{DOMAIN}/namespace-selectors]: "
            "[0] must be a label selector, is an integer"
        ),
    ]
    assert stopped.events == (
        Event(
            SERVICES,
            CART,
            "u",
            "Warning",
            "InvalidAnnotation",
            f"metadata.annotations[{DOMAIN}/from-x-allowed-ports]: is not valid JSON",
        ),
        Event(
            SERVICES,
            CART,
            "u",
            "Warning",
            "InvalidAnnotation",
            f"metadata.annotations[{DOMAIN}/namespace-selectors]: [0] must be a label selector, is an integer",
        ),
    )


def test_unreadable_ports_for_the_world_keep_their_policy_while_others_proceed() -> None:
    subject = service({"from-world-to-ports": "notjson"}, uid="u")
    partial = plan(SHOP, subject, policy("ingress-to-cart-from-world"), policy("old"))

    assert [str(action.key) for action in partial.actions if isinstance(action, Create)] == [
        "shop/egress-to-cart-tcp-8080",
        "shop/ingress-to-cart-tcp-8080",
    ]
    assert deleted(partial) == ["shop/old"]
    assert partial.events == (
        Event(
            SERVICES,
            CART,
            "u",
            "Warning",
            "NetworkPolicyRefused",
            f"metadata.annotations[{DOMAIN}/from-world-to-ports]: is not valid JSON",
        ),
    )


def test_policies_of_refused_names_stay_while_others_proceed() -> None:
    ports = [{"port": 80, "targetPort": 70000}, {"port": 81, "targetPort": 8081}]
    kept = [
        policy("ingress-to-cart-tcp-70000"),
        policy("egress-to-cart-tcp-70000"),
        policy("ingress-to-cart-tcp-70000-from-ingress-controller"),
        policy("egress-to-shop-cart-tcp-70000-from-ingress-controller", namespace="garden"),
    ]
    partial = plan(SHOP, namespace("garden"), service(ports=ports), ingress(backend(80)), policy("old"), *kept)

    assert deleted(partial) == ["shop/old"]
    assert len(partial.actions) == 3
    assert [str(failure) for failure in partial.failures] == [
        "Service shop/cart: spec.ports[0]: port must be between 1 and 65535, got 70000"
    ]


def test_an_event_about_a_policy_names_the_policy() -> None:
    subject = service({"namespace-selectors": "[{}]"})
    world = [SHOP, namespace("garden"), namespace("ingress-controller"), ingress(backend(80))]

    assert [event.note for event in plan(*world, subject).events] == [
        (
            "NetworkPolicy shop/ingress-to-cart-tcp-8080-from-ingress-controller: metadata.name: the policy that "
            "ingress-backend asks for has the name of the one that service-port asks for"
        )
    ]


def test_ingresses_are_not_read_where_no_ingress_controller_is_configured() -> None:
    # The snapshot holds no Ingresses then and would fail for whoever asks.
    assert len(plan(SHOP, service(), config=NetworkPolicyConfig()).actions) == 2


@pytest.mark.parametrize(
    ("malformed", "failure"),
    [
        pytest.param(
            {**service(), "spec": ["x"]}, "Service shop/cart: spec: must be a mapping", id="spec of the Service"
        ),
        pytest.param(
            service(ports=[{"port": "http"}]), "Service shop/cart: spec.ports[0].port: must be a number", id="port"
        ),
        pytest.param(
            {**ingress(backend(80)), "spec": "x"}, "Ingress shop/web: spec: must be a mapping", id="spec of an Ingress"
        ),
    ],
)
def test_what_no_server_has_checked_is_checked_as_it_enters_a_snapshot(
    malformed: Mapping[str, Any], failure: str
) -> None:
    world = [SHOP, *([] if malformed["kind"] == "Service" else [service()]), malformed, policy("old")]

    for_controller = snapshot_of(network_policy_controller(BEHIND_INGRESS), world)

    assert [str(each) for each in for_controller.failure()] == [failure]


def test_objects_of_a_server_and_of_files_get_the_same_plan() -> None:
    annotations = {"namespace-selectors": "[{}]", "from-x-allowed-ports": "null"}
    world = [SHOP, namespace("garden"), namespace("b", terminating=True), ingress(backend(80)), policy("old")]

    assert plan(*world, service(annotations)).actions == plan(*world, service(annotations, resourceVersion="5")).actions
