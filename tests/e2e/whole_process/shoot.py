"""A shoot's two clusters: the one that has its control plane and its resource manager, and the shoot itself."""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, ControlPlane, PodKeeper, wait_until
from tests.control_plane.plane import WORKLOAD_CONTROLLERS
from tests.e2e.hasty import PERIODS_OF_ANY_LENGTH, HastyResourceManager, run_hasty_command
from tests.e2e.kubelets import Kubelet, kubelet_users, let_kubelets_ask, sign_approved_requests
from tests.e2e.machines import define_machines, machine
from tests.e2e.managed_resources.definition import define_managed_resources
from tests.e2e.managed_resources.manifests import IMAGE, named
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest, collection_of, path_of
from tests.e2e.permissions import user_of
from tests.e2e.whole_process.front import Front
from tests.e2e.whole_process.roles import Roles

EXAMPLE: Final = Path(__file__).parents[3] / "examples" / "resource-manager-complete.yaml"
CONTROL_PLANE: Final = "shoot--foo--bar"
"""The namespace of the source cluster that the example is about."""
SYSTEM: Final = "kube-system"
NODE: Final = "node-1"
ADDRESS: Final = "10.250.0.1"
ADDRESSES: Final = [{"type": "Hostname", "address": NODE}, {"type": "InternalIP", "address": ADDRESS}]
SYNC_PERIOD: Final = "5s"
NOT_READY: Final = "node.gardener.cloud/critical-components-not-ready"


@dataclass(frozen=True)
class Shoot:
    """Both clusters, and the Service of the webhooks."""

    source: ManagedResourceSandbox
    target: ManagedResourceSandbox
    roles: Roles
    target_roles: Roles
    front: Front
    pods: PodKeeper
    folder: Path

    @property
    def control_plane(self) -> ControlPlane:
        """The cluster that has the Lease."""
        return self.source.control_plane

    @property
    def kubelet(self) -> Kubelet:
        """That of the node."""
        return Kubelet(self.target.control_plane, NODE)

    @property
    def home(self) -> str:
        """The namespace of the Lease."""
        return CONTROL_PLANE

    def wait_for_the_audit_log(self) -> None:
        """Returns once the audit log of the source cluster is complete."""
        self.source.writes(0)

    def replica(self, name: str) -> "Replica":
        """A process with an account of its own, which has not been started."""
        return Replica(self, name)

    def register(self, replica: "Replica") -> None:
        """Have the shoot's API server ask the webhooks that a replica is configured for, unless it does already."""
        if self.target.find(_registration()) is not None:
            return
        options = ("--mode", "target", "--url", self.front.url, "--ca-bundle", str(self.folder / "tls.crt"))
        asked = ("webhooks", "render", "--config", str(replica.config_file), *options)
        done = run_hasty_command({}, *asked, before=PERIODS_OF_ANY_LENGTH)
        assert done.returncode == 0, done.stderr
        self.target.create(*yaml.safe_load_all(done.stdout))
        # The API server takes up a registration some moments later.
        wait_until(
            self._asks_webhooks, timeout=PATIENCE, otherwise=lambda: AssertionError("the API server asks no webhook")
        )

    def _asks_webhooks(self) -> bool:
        """Whether a pod would be changed on its way in, of which nothing is stored."""
        pod = named("v1", "Pod", SYSTEM, "probe", spec={"containers": [{"name": "c", "image": "c:1"}]})
        path = f"{collection_of(pod)}?dryRun=All"
        _, answer = self.target.control_plane.request("POST", path, pod)
        return "env" in answer.get("spec", {}).get("containers", [{}])[0]

    def join(self, *taints: str) -> None:
        """Have a kubelet register the node anew, with these taints."""
        all_taints = [{"key": key, "effect": "NoSchedule"} for key in taints]
        if self.target.find(node()) is not None:
            self.target.delete(node())
        self.target.create({**node(), "spec": {"taints": all_taints}})
        # Without the taint that the API server adds, and that nobody here would take away.
        self.target.patch(node(), {"spec": {"taints": all_taints or None}})
        status, answer = self.target.control_plane.request(
            "PATCH", f"{path_of(node())}/status", {"status": {"addresses": ADDRESSES}}
        )
        assert status == http.client.OK, answer

    def reasons_of_node_events(self) -> set[str]:
        """What has been said of the node."""
        _, events = self.target.control_plane.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events")
        return {each["reason"] for each in events["items"] if each["regarding"]["kind"] == "Node"}


class Replica(HastyResourceManager):
    """One of the processes, configured as the example says.

    Kubeconfigs, addresses and certificates are the test's, and it looks at everything every few seconds.
    """

    def __init__(self, shoot: Shoot, name: str) -> None:
        self.user: Final = user_of(name)
        config = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
        config["sourceClientConnection"]["kubeconfig"] = str(shoot.roles.account(name))
        config["targetClientConnection"]["kubeconfig"] = str(shoot.target_roles.account(name))
        for section in ("health", "managedResources"):
            config["controllers"][section]["syncPeriod"] = SYNC_PERIOD
        super().__init__(shoot.folder, config, {}, name=name, before=PERIODS_OF_ANY_LENGTH, shutdown_delay="3s")
        shoot.front.add(self)

    @property
    def leads(self) -> bool:
        return self.metric("leader_election_master_status") == 1

    def wait_until_leading(self) -> None:
        self.wait_for(lambda: self.leads, "does not lead")


@contextmanager
def new_shoot(folder: Path) -> Iterator[Shoot]:
    """A shoot with a node, and nothing else."""
    ServingPair.new(folder)
    with (
        ControlPlane() as source_plane,
        ControlPlane(users=kubelet_users(NODE)) as target_plane,
        Front() as front,
        PodKeeper(target_plane, node=NODE) as pods,
    ):
        define_managed_resources(source_plane)
        define_machines(source_plane)
        sign_approved_requests(target_plane, folder, beside=WORKLOAD_CONTROLLERS)
        let_kubelets_ask(target_plane)
        folders = [folder / "source", folder / "target"]
        for each in folders:
            each.mkdir()
        source = ManagedResourceSandbox(source_plane, CONTROL_PLANE, folders[0])
        target = ManagedResourceSandbox(target_plane, "istio-system", folders[1])
        example = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
        roles = Roles(source, "source", CONTROL_PLANE, example, folders[0])
        target_roles = Roles(target, "target", CONTROL_PLANE, example, folders[1])
        shoot = Shoot(source, target, roles, target_roles, front, pods, folder)
        target.patch(named("v1", "Namespace", "", SYSTEM), _labelled(**{"gardener.cloud/purpose": SYSTEM}))
        shoot.join()
        source.create(machine(CONTROL_PLANE, "machine-1", node=NODE))
        yield shoot


def node() -> Manifest:
    """The only node of the shoot."""
    return named("v1", "Node", "", NODE)


def critical_daemon_set(name: str) -> Manifest:
    """What every node waits for."""
    labels = {"app": name, "node.gardener.cloud/critical-component": "true"}
    spec = {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "app", "image": IMAGE}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    daemon_set = named("apps/v1", "DaemonSet", SYSTEM, name)
    daemon_set["metadata"]["labels"] = labels
    return {**daemon_set, "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


def _registration() -> Manifest:
    return named(
        "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "gardener-resource-manager-shoot"
    )


def _labelled(**labels: str) -> Manifest:
    return {"metadata": {"labels": labels}}
