"""A gateway before a real API server that answers 404, and one that leads to another cluster: nothing is lost by it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import yaml

from tests.control_plane import ControlPlane
from tests.e2e.gateways import Asked, Gateway, Reply
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, deployment
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.managed_resources.test_garbage import REFERENCE, collectable
from tests.e2e.managed_resources.urls import Manifest

BARE = Reply(404, "text/plain", b"404 page not found\n")
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
COLLECTOR = {"garbageCollector": {"enabled": True, "syncPeriod": "15s"}}
ENOUGH = 3
"""How many answers about one path let whoever believes them do harm."""
USERS = ("deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "pods")


class MisleadingGateway(Gateway):
    """Answers some requests in its own way, when it is told to."""

    def __init__(self, control_plane: ControlPlane) -> None:
        super().__init__(control_plane, control_plane.token())
        self.misled: Counter[str] = Counter()
        """How often by the last segment of the path."""
        self.misleads: Callable[[Asked], Reply | None] = lambda _asked: None

    def answer(self, asked: Asked) -> Reply | None:
        reply = self.misleads(asked)
        if reply is None:
            return self.hand_on(asked)
        with self.lock:
            self.misled[_last_segment(asked)] += 1
        return reply


@pytest.fixture
def gateway(busy_plane: ControlPlane) -> Iterator[MisleadingGateway]:
    with MisleadingGateway(busy_plane) as running:
        yield running


def configuration(sandbox: ManagedResourceSandbox, gateway: MisleadingGateway) -> Manifest:
    """The sandbox's own, but for the way to the cluster."""
    kubeconfig = sandbox.folder / "gateway.kubeconfig"
    document = {
        "clusters": [{"name": "here", "cluster": {"server": gateway.url}}],
        "users": [{"name": "me", "user": {"token": "any"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "current-context": "here",
    }
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
    config = sandbox.configuration(controllers=COLLECTOR)
    config["sourceClientConnection"]["kubeconfig"] = str(kubeconfig)
    return config


def _last_segment(asked: Asked) -> str:
    return asked.path.partition("?")[0].rpartition("/")[2]


def of_users(asked: Asked) -> Reply | None:
    """The 404 for lists of what may refer to garbage."""
    return BARE if _last_segment(asked) in USERS else None


def of_config_maps(asked: Asked) -> Reply | None:
    """The 404 for ConfigMaps, and for all discovery."""
    is_discovery = asked.path in {"/api/v1", "/apis"}
    return BARE if is_discovery or "/configmaps" in asked.path else None


def test_the_garbage_collector_deletes_nothing_while_a_gateway_answers_404(
    sandbox: ManagedResourceSandbox, gateway: MisleadingGateway
) -> None:
    home = sandbox.namespace
    used, unused = (collectable(config_map(home, name)) for name in ("used", "unused"))
    user = deployment(home, "web")
    user["metadata"]["annotations"] = {REFERENCE: "used"}
    sandbox.create(used, unused, user)
    for each in (used, unused):
        sandbox.control_plane.make_old("configmaps", home, each["metadata"]["name"])
    gateway.misleads = of_users

    with Manager(sandbox.folder, configuration(sandbox, gateway)) as manager:
        sandbox.wait_for(lambda: gateway.misled["deployments"] >= ENOUGH, "the gateway has answered often enough")
        assert [sandbox.find(each) is not None for each in (used, unused)] == [True, True]
        gateway.misleads = lambda _asked: None
        sandbox.wait_until_gone(unused)
        assert sandbox.find(used) is not None
        assert manager.terminate() == 0


def test_a_managed_resource_is_not_released_while_a_gateway_answers_404(
    sandbox: ManagedResourceSandbox, gateway: MisleadingGateway
) -> None:
    settings = config_map(sandbox.namespace, "settings")
    managed = sandbox.deliver("shop", settings)

    with Manager(sandbox.folder, configuration(sandbox, gateway)) as manager:
        sandbox.wait_until_applied()
        gateway.misleads = of_config_maps
        sandbox.delete(managed)
        sandbox.wait_for(lambda: gateway.misled["settings"] >= ENOUGH, "the gateway has answered often enough")
        assert [sandbox.find(each) is not None for each in (managed, settings)] == [True, True]
        gateway.misleads = lambda _asked: None
        sandbox.wait_until_gone(managed, settings)
        assert manager.terminate() == 0


def test_a_process_that_is_led_to_another_cluster_ends(
    sandbox: ManagedResourceSandbox, gateway: MisleadingGateway
) -> None:
    own = json.loads(gateway.hand_on(Asked("GET", KUBE_SYSTEM, {}, b"")).content)["metadata"]["uid"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "another"}}
    other = Reply(200, "application/json", json.dumps(namespace).encode())

    with Manager(sandbox.folder, configuration(sandbox, gateway)) as manager:
        manager.wait_ready()
        gateway.misleads = lambda asked: other if asked.path == KUBE_SYSTEM else None
        assert manager.wait(90) == 1
        said = json.loads(manager.output().splitlines()[-1])

    assert said["error"] == (
        "the source connection leads to another cluster: the uid of its namespace kube-system was "
        f"{own} at the start, and is another now"
    )
