"""The roles of an installation are enough, none is idle, and a permission that lacks is named."""

import re
from collections.abc import Iterator

import pytest
import yaml

from hedgerow.admission.deletion_protection import CUSTOM_RESOURCES
from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, PODS
from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane
from tests.e2e.admission import HIGH_AVAILABILITY, calling, deployment, review
from tests.e2e.hvpas import hvpas_defined
from tests.e2e.managed_definition import SETTLED, deliver_nothing, install, statuses, undefined
from tests.e2e.permissions import (
    READING_WEBHOOKS,
    account_kubeconfig,
    grant,
    granted,
    refusals_of,
    revoke,
    roles_for,
    used,
)
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager
from tests.e2e.sandbox import Manifest, N, Sandbox, ingress, pair, service

INGRESS_PODS = {"matchLabels": {"app": "nginx"}}
BROKEN = {"namespace-selectors": "nonsense"}
pytestmark = pytest.mark.usefixtures("serving_pair")

OF_MANAGED_RESOURCES = {
    *((verb, resource) for verb in ("list", "watch") for resource in ("pods", "replicasets")),
    ("list", "events"),
    ("get", "customresourcedefinitions"),
    ("list", "persistentvolumeclaims"),
    ("delete", "persistentvolumeclaims"),
}
"""What is needed only where ManagedResources deliver workloads or custom resources."""


def everything(sandbox: Sandbox, home: str) -> Manifest:
    """A configuration that needs every permission, for the service account of a namespace."""
    config = sandbox.configuration(
        {"ingressControllerSelector": {"namespace": sandbox.home, "podSelector": INGRESS_PODS}},
        leaderElection={"leaderElect": True, "resourceNamespace": home},
        webhooks={name: {"enabled": True} for name in READING_WEBHOOKS},
    )
    config["controllers"]["clusterID"] = "<default>"
    kubeconfig = account_kubeconfig(sandbox.control_plane, home, sandbox.folder)
    return {**config, "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}


@pytest.fixture
def garden(control_plane: ControlPlane) -> Iterator[str]:
    """The namespace of an installation, where its roles are as they are printed."""
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": "garden"}})
    roles = yaml.safe_dump_all(roles_for("garden"))
    control_plane.kubectl("apply", "-f", "-", input=roles)
    yield "garden"
    control_plane.kubectl("delete", "-f", "-", input=roles)


@pytest.fixture
def all_kinds(control_plane: ControlPlane) -> Iterator[None]:
    """Everything that is read is defined."""
    with hvpas_defined(control_plane), undefined(control_plane):
        install(control_plane)
        yield


def test_the_roles_allow_everything_that_the_process_does_and_nothing_else(
    sandbox: Sandbox, garden: str, all_kinds: None, serving_pair: ServingPair
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"), service(shop, "till", annotations=BROKEN), ingress(shop, "front", "cart", 80))
    deliver_nothing(sandbox.control_plane, shop, "nothing")
    let_in = {
        "shop/ingress-to-cart-tcp-8080-from-ingress-controller",
        "home/egress-to-shop-cart-tcp-8080-from-ingress-controller",
    }

    with ResourceManager(sandbox.folder, everything(sandbox, garden)) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | let_in)
        before = sandbox.policies()
        sandbox.patch("NetworkPolicy", shop, "egress-to-cart-tcp-8080", {"spec": {"policyTypes": ["Ingress"]}})
        process.wait_for(lambda: sandbox.policies() == before, "has not put the policy back")
        sandbox.delete("Service", shop, "cart")
        sandbox.wait_for_policies([])
        process.wait_for(lambda: sandbox.events_of(NETWORK_POLICIES), "has not recorded the event")
        process.wait_for(
            lambda: statuses(sandbox.control_plane, shop, "nothing") == SETTLED, "has not applied what there is"
        )
        ask_for_what_no_cache_holds(process, serving_pair, f"{sandbox.prefix}-new")
        assert process.terminate() == 0

    assert refusals_of(sandbox.control_plane, garden) == []
    assert used(sandbox.control_plane, garden) == granted(roles_for(garden)) - OF_MANAGED_RESOURCES


def ask_for_what_no_cache_holds(process: ResourceManager, pair: ServingPair, namespace: str) -> None:
    """Reviews for which the process asks the API server."""
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"serviceAccountName": "cart"}}
    of_many = [review(each, "DELETE", namespace, "", None) for each in (CUSTOM_RESOURCE_DEFINITIONS, *CUSTOM_RESOURCES)]
    with calling(process, pair) as caller:
        caller.ask(HIGH_AVAILABILITY, review(DEPLOYMENTS, "CREATE", namespace, "cart", deployment(namespace, "cart")))
        caller.ask("/webhooks/mount-projected-service-account-token", review(PODS, "CREATE", namespace, "cart", pod))
        for each in of_many:
            caller.ask("/webhooks/validate-crd-deletion", each)


READ = ("services", "namespaces", "networkpolicies", "ingresses", "secrets")
MISSING = {
    "list": [("list", resource) for resource in (*READ, "managedresources", "nodes")],
    "watch": [("watch", resource) for resource in (*READ, "horizontalpodautoscalers")],
    "write": [*((verb, "networkpolicies") for verb in ("create", "patch", "delete")), ("create", "events")],
    **{f"{verb} leases": [(verb, "leases")] for verb in ("get", "create", "update")},
}
"""Together where the process does one without the other."""


@pytest.fixture
def work_of_every_kind(sandbox: Sandbox) -> None:
    """A policy to create, one to correct, one to delete, a warning to record."""
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"), service(shop, "till", annotations=BROKEN))
    for name in ("egress-to-cart-tcp-8080", "stale"):
        labels = {f"{N}/service-namespace": shop, f"{N}/service-name": "cart"}
        metadata = {"namespace": shop, "name": name, "labels": labels}
        spec = {"podSelector": {}, "policyTypes": ["Ingress"]}
        sandbox.create(
            {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
        )


@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_missing_permissions_are_named(
    sandbox: Sandbox, work_of_every_kind: None, missing: list[tuple[str, str]]
) -> None:
    home = sandbox.namespace("restricted", handled=False)
    assert set(missing) <= granted(roles_for(home))
    grant(sandbox.control_plane, home, without=missing)

    with ResourceManager(sandbox.folder, everything(sandbox, home)) as process:
        process.wait_for(lambda: not unnamed(process, missing), f"has not said that it may not {missing}")

    assert set(refusals_of(sandbox.control_plane, home)) == {f"{verb} {resource}" for verb, resource in missing}
    revoke(sandbox.control_plane, home)


def unnamed(process: ResourceManager, missing: list[tuple[str, str]]) -> list[str]:
    """Of which missing permissions the process has not said that they are missing."""
    told = "\n".join(line.get("error", line.get("detail", "")) for line in process.log_lines())
    return [
        f"{verb} {resource}"
        for verb, resource in missing
        if not re.search(rf'cannot {verb} resource "{resource}"|missing permission: {verb} {resource}\b', told)
    ]
