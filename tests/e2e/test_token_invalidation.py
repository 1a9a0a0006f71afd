"""Tokens that Kubernetes puts into Secrets are worth something exactly as long as the ServiceAccount wants that."""

import http.client
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final

import pytest

from hedgerow.admission.config import AdmissionConfig
from hedgerow.resource_manager.token_invalidation import token_invalidator
from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane
from tests.e2e.admission import registered
from tests.e2e.declared_roles import allowed
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import Sandbox

PURPOSE: Final = "resources.gardener.cloud/purpose"
MARKED: Final = {PURPOSE: "token-invalidator"}
CONSIDERED: Final = {**MARKED, "token-invalidator.resources.gardener.cloud/consider": "true"}
SKIP: Final = "token-invalidator.resources.gardener.cloud/skip"
INVALID: Final = b"\0\0\0"
SWITCHED_ON: Final[dict[str, Any]] = {
    "controllers": {"tokenInvalidator": {"enabled": True}},
    "webhooks": {"tokenInvalidator": {"enabled": True}},
}


@pytest.fixture
def token_controller(control_plane: ControlPlane) -> Iterator[None]:
    """Fills Secrets with tokens of ServiceAccounts, as in every cluster."""
    control_plane.start_controller_manager(("serviceaccount-token-controller",))
    yield
    control_plane.stop_controller_manager()


@pytest.fixture
def process(sandbox: Sandbox, serving_pair: ServingPair) -> Iterator[ResourceManager]:
    """A process that may do what the controller declares, and whose webhook the API server asks."""
    with (
        allowed(sandbox, token_invalidator()),
        ResourceManager(sandbox.folder, sandbox.configuration(**SWITCHED_ON)) as running,
    ):
        running.wait_ready()
        with registered(sandbox, running, serving_pair, AdmissionConfig(token_invalidator=True)):
            yield running


class Shop:
    """A namespace with a ServiceAccount and a Secret that is to hold its token."""

    def __init__(self, sandbox: Sandbox, *, automount: bool) -> None:
        self._plane = sandbox.control_plane
        self.root = f"/api/v1/namespaces/{sandbox.namespace('shop')}"
        account = {
            "metadata": {"name": "robot"},
            "automountServiceAccountToken": automount,
            "secrets": [{"name": "robot-token"}],
        }
        self.send("POST", "serviceaccounts", account)
        metadata = {"name": "robot-token", "annotations": {"kubernetes.io/service-account.name": "robot"}}
        self.send("POST", "secrets", {"metadata": metadata, "type": "kubernetes.io/service-account-token"})

    def send(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        status, answer = self._plane.request(method, f"{self.root}/{path}", body)
        assert status in {http.client.OK, http.client.CREATED}, answer
        return answer

    def change_account(self, change: dict[str, Any]) -> None:
        self.send("PATCH", "serviceaccounts/robot", change)

    @property
    def labels(self) -> dict[str, str]:
        """Those of the Secret that have to do with its token; Kubernetes has others."""
        labels = self.send("GET", "secrets/robot-token")["metadata"].get("labels", {})
        return {key: value for key, value in labels.items() if "resources.gardener.cloud" in key}

    @property
    def token(self) -> bytes:
        return b64decode(self.send("GET", "secrets/robot-token").get("data", {}).get("token", ""))


def is_real(token: bytes) -> bool:
    """Whether it is one that authenticates, in three parts."""
    return token.count(b".") == 2


@pytest.mark.usefixtures("token_controller")
def test_a_token_goes_and_comes_as_the_service_account_wants_it(sandbox: Sandbox, process: ResourceManager) -> None:
    shop = Shop(sandbox, automount=True)
    process.wait_for(lambda: shop.labels == MARKED, "has not marked the Secret")
    process.wait_for(lambda: is_real(shop.token), "gets in the way of a token")

    shop.change_account({"automountServiceAccountToken": False})
    process.wait_for(lambda: shop.labels == CONSIDERED, "has not labelled the Secret")
    assert shop.token == INVALID
    shop.send("PATCH", "secrets/robot-token", {"data": {"token": None}})
    assert shop.token == INVALID

    shop.change_account({"metadata": {"labels": {SKIP: "true"}}})
    process.wait_for(lambda: shop.labels == MARKED, "has not released the Secret")
    process.wait_for(lambda: is_real(shop.token), "keeps a new token away")
    assert errors_of(process.log_lines()) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"secret": {"secretName": "robot-token"}}, id="volume"),
        pytest.param({"projected": {"sources": [{"secret": {"name": "robot-token"}}]}}, id="projected volume"),
    ],
)
def test_a_token_that_a_pod_mounts_is_left_alone_until_the_pod_is_gone(
    sandbox: Sandbox, process: ResourceManager, source: dict[str, Any]
) -> None:
    shop = Shop(sandbox, automount=True)
    volumes = [{"name": "v", **source}]
    containers = [{"name": "c", "image": "registry.example.com/c"}]
    shop.send("POST", "pods", {"metadata": {"name": "user"}, "spec": {"containers": containers, "volumes": volumes}})
    process.wait_for(lambda: shop.labels == MARKED, "has not marked the Secret")

    since = sandbox.control_plane.audit_position()
    shop.change_account({"automountServiceAccountToken": False})
    process.wait_for(lambda: lists_of_pods(sandbox, since) > 1, "has not looked twice for who mounts the Secret")
    assert shop.labels == MARKED

    shop.send("DELETE", "pods/user", {"gracePeriodSeconds": 0})
    process.wait_for(lambda: shop.labels == CONSIDERED, "has not noticed that nobody mounts the Secret any more")
    assert sandbox.writes(since) == ["patch secrets"]
    assert errors_of(process.log_lines()) == []


def lists_of_pods(sandbox: Sandbox, since: int) -> int:
    events = sandbox.control_plane.lists(sandbox.user, since=since)
    return sum(event["objectRef"]["resource"] == "pods" for event in events)
