"""The roles of `examples/rbac.yaml` are enough, none of their rules is too many, and one that lacks is named."""

import http.client
from collections.abc import Iterator

import pytest
from tests.control_plane import ControlPlane, wait_until
from tests.e2e.permissions import ACCOUNT, MANIFEST, account_kubeconfig, grant, revoke, user_of
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.territory import Manifest, Territory, ingress, pair, service

ELECTION = {"resourceNamespace": "garden"}
BROKEN = {"namespace-selectors": "nonsense"}


def everything(territory: Territory, home: str) -> Manifest:
    """A configuration that needs every permission."""
    selector = {"namespace": home, "podSelector": {"matchLabels": {"app": "nginx"}}}
    return territory.configuration(
        {"ingressControllerSelector": selector}, leaderElection={"leaderElect": True, "resourceNamespace": home}
    )


def deny(territory: Territory, verb: str, resource: str) -> None:
    """Take one permission from the account of the processes of a test."""
    revoke(territory.control_plane, territory.home)
    for kind in ("roles", "rolebindings"):
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{territory.home}/{kind}"
        territory.control_plane.request("DELETE", path)
    grant(territory.control_plane, territory.home, without=(verb, resource))


@pytest.fixture
def garden(control_plane: ControlPlane) -> Iterator[str]:
    """The namespace of the example, where its manifest has been applied as it is."""
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": "garden"}})
    control_plane.kubectl("apply", "-f", str(MANIFEST))
    yield "garden"
    control_plane.kubectl("delete", "-f", str(MANIFEST))


def test_the_example_roles_allow_everything_that_the_process_does(territory: Territory, garden: str) -> None:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"), service(shop, "till", annotations=BROKEN))
    config = everything(territory, garden)
    config["sourceClientConnection"]["kubeconfig"] = str(account_kubeconfig(territory.control_plane, garden, territory.folder))

    with ResourceManager(territory.folder, config) as process:
        territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
        territory.create(ingress(shop, "front", "cart", 80))
        process.wait_for(lambda: len(territory.policies()) == 3 + 1, "has not let the ingress controller in")
        territory.patch("NetworkPolicy", shop, "egress-to-cart-tcp-8080", {"spec": {"podSelector": None}})
        territory.delete("Service", shop, "cart")
        territory.wait_for_policies([])
        process.wait_for(lambda: territory.objects("Event"), "has not recorded the event")
        assert process.terminate() == 0
