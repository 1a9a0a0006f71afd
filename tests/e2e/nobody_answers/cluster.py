"""A cluster whose controllers, node and Services are at work, and installations of the resource manager in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.control_plane import ControlPlane
from tests.control_plane.kubectl import KubectlError
from tests.control_plane.plane import WORKLOAD_CONTROLLERS
from tests.e2e.nobody_answers.node import Node
from tests.e2e.nobody_answers.services import ServiceProxy
from tests.e2e.resource_manager import run_here
from tests.e2e.test_installation import by_helm

CONTROLLERS: Final = (
    *WORKLOAD_CONTROLLERS,
    "disruption-controller",
    "endpointslice-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
)
WEBHOOKS: Final = (
    "endpointSliceHints",
    "highAvailabilityConfig",
    "podSchedulerName",
    "podTopologySpreadConstraints",
    "projectedTokenMount",
    "seccompProfile",
    "tokenInvalidator",
)
NAME: Final = "gardener-resource-manager"
SHOP: Final = "shop"
REPLICAS: Final = 2


@dataclass(frozen=True)
class Cluster:
    """A cluster, and the only node in it."""

    plane: ControlPlane
    node: Node
    folder: Path

    def kubectl(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 -- as in subprocess
        return self.plane.kubectl(*arguments, input=input)

    def try_pod(self, namespace: str = SHOP) -> tuple[int, dict[str, Any]]:
        """The answer to a new pod, of which nothing is stored."""
        pod = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}
        return self.plane.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)

    def is_mutated(self) -> bool:
        """Whether the webhooks change a pod."""
        return "seccompProfile" in self.try_pod()[1].get("spec", {}).get("securityContext", {})

    def is_blocked(self) -> bool:
        """Whether a pod is refused because no webhook answers."""
        return "failed calling webhook" in str(self.try_pod()[1].get("message"))


@contextmanager
def new_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster with a namespace for pods that the webhooks are about."""
    with (
        ServiceProxy() as services,
        ControlPlane(api_server_flags=[services.flag, "--disable-admission-plugins=DefaultStorageClass"]) as plane,
    ):
        plane.start_controller_manager(CONTROLLERS, f"--root-ca-file={plane.ca_file}")
        with Node(plane, folder) as node:
            services.route = node.port_of
            cluster = Cluster(plane, node, folder)
            cluster.kubectl("create", "namespace", SHOP)
            node.wait_until(lambda: "default" in cluster.kubectl("get", "sa", "-n", SHOP), "no account for pods")
            yield cluster


@dataclass(frozen=True)
class Release:
    """The resource manager, installed in a namespace in steps."""

    cluster: Cluster
    namespace: str
    prefix: str
    values: Path
    has_helm: bool
    """Whether the chart renders it; otherwise the command does."""
    registers_itself: bool
    """Whether the process makes its certificates, and registers its webhooks."""

    @property
    def name(self) -> str:
        """Of its objects."""
        return f"{self.prefix}{NAME}"

    def printed(self, part: str) -> str:
        """The manifests of a part."""
        setting = ("--set", f"part={part}")
        if self.has_helm:
            done = by_helm(self.values, *setting, namespace=self.namespace)
        else:
            crds = ("--include-crds",) if part != "registrations" else ()
            done = run_here(
                "install", "resource-manager", "-n", self.namespace, "-f", str(self.values), *setting, *crds
            )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install(self) -> None:
        """Everything but the registrations; these once the process is ready, unless that fills them in itself."""
        for part in ("source",) if self.registers_itself else ("process", "registrations"):
            self.cluster.kubectl("apply", "-f", "-", input=self.printed(part))
            self.wait_until_available()
        self.cluster.node.wait_until(self.cluster.is_mutated, "the API server asks no webhook")

    def remove(self) -> None:
        """Everything but definitions, registrations first."""
        for part in ("registrations", "process"):
            self.remove_part(part)
        self.cluster.node.wait_until(lambda: not self._pods(), f"pods of {self.namespace}/{self.name} stay")

    def remove_part(self, part: str) -> None:
        """What is printed of a part, but definitions."""
        objects = [each for each in yaml.safe_load_all(self.printed(part)) if each]
        kept = [each for each in objects if each["kind"] != "CustomResourceDefinition"]
        self.cluster.kubectl("delete", "--ignore-not-found", "-f", "-", input=yaml.safe_dump_all(kept))

    def _pods(self) -> str:
        return self.cluster.kubectl("get", "pods", "-n", self.namespace, "--selector", f"app={self.name}", "-o", "name")

    def is_available(self) -> bool:
        """Whether all pods of the last revision are ready, and no other is left."""
        found = yaml.safe_load(self.cluster.kubectl("get", "deployment", self.name, "-n", self.namespace, "-o", "yaml"))
        status, wanted = found["status"], found["spec"]["replicas"]
        is_current = status.get("observedGeneration") == found["metadata"]["generation"]
        counted = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
        return is_current and counted == [wanted] * 3

    def is_settled(self) -> bool:
        """Whether no pod is left that is on its way out."""
        return len(self._pods().split()) == REPLICAS

    def wait_until_available(self) -> None:
        """Return when the process is back."""
        self.cluster.node.wait_until(self.is_available, f"{self.namespace}/{self.name} is not available")


def new_release(
    cluster: Cluster,
    namespace: str,
    *,
    prefix: str = "",
    has_helm: bool = False,
    registers_itself: bool = False,
    **webhooks: Any,
) -> Release:
    """A release with a certificate of its own that has not been installed; `webhooks` are values."""
    folder = cluster.folder / f"{prefix}{namespace}"
    folder.mkdir()
    made = run_here("webhooks", "certificate", "--out", str(folder), "--namespace", namespace, "--name-prefix", prefix)
    assert made.returncode == 0, made.stderr
    try:
        cluster.kubectl("create", "namespace", namespace)
    except KubectlError as error:
        assert "AlreadyExists" in str(error)  # noqa: PT017 -- kube-system exists, and a test may use it
    pair = ("--cert", str(folder / "tls.crt"), "--key", str(folder / "tls.key"))
    secret = f"{prefix}{NAME}-tls"
    cluster.kubectl("create", "secret", "tls", secret, "-n", namespace, *pair)
    values: Mapping[str, Any] = {
        "namePrefix": prefix,
        "replicas": REPLICAS,
        "managedResources": {"clusterAdmin": True},
        "config": {
            "controllers": {"tokenInvalidator": {"enabled": True}},
            "webhooks": {name: {"enabled": True} for name in WEBHOOKS},
            "server": {
                "webhooks": {"shutdownDelay": "3s", "tls": {"provision": "self" if registers_itself else "files"}}
            },
        },
        "webhooks": {
            "certificateSecret": secret,
            "caBundle": (folder / "ca.crt").read_text(encoding="utf-8"),
            **webhooks,
        },
    }
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return Release(cluster, namespace, prefix, file, has_helm, registers_itself)
