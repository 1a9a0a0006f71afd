"""A seed of its own for the process of shoot-rsyslog-relp, and Shoots in it that have the extension."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.bare_client import send_all
from benchmarks.launch import Command
from benchmarks.prepared import Prepared
from benchmarks.process import ResourceManager, listening
from hedgerow.api.gardener import CLUSTERS
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import ControlPlane
from tests.control_plane.processes import free_ports
from tests.e2e.rsyslog.seed import OPERATION, TYPE, define

MACHINE_TYPES: Final = 60
"""In the CloudProfile that each Cluster holds, some ten kilobytes: no decision reads it."""


class Extension(ResourceManager):
    """A running process of the extension."""

    @classmethod
    @contextmanager
    def serving(
        cls,
        command: Command,
        name: str,
        plane: ControlPlane,
        certificate: Path | None = None,
        controllers: Mapping[str, Any] | None = None,
    ) -> Iterator["Extension"]:
        """A process that is started now; it serves the webhook of OperatingSystemConfigs if it has a certificate."""
        ports = free_ports(3)
        health, metrics, webhooks = map(listening, ports)
        server = {"healthProbes": health, "metrics": metrics}
        if certificate is not None:
            server["webhooks"] = webhooks | {"tls": {"serverCertDir": str(certificate)}}
        configuration = {
            "apiVersion": "rsyslog-relp.extensions.config.gardener.cloud/v1alpha1",
            "kind": "Configuration",
            "clientConnection": {"kubeconfig": str(plane.kubeconfig())},
            "server": server,
            "leaderElection": {"resourceNamespace": "default"},
            "controllers": dict(controllers or {}),
            "webhooks": {"operatingSystemConfig": {"enabled": certificate is not None}},
        }
        with cls.running(command, name, "rsyslog-relp", configuration, ports) as process:
            yield process


@contextmanager
def seed(shoots: int) -> Iterator[ControlPlane]:
    """A control plane of its own that knows what Gardener defines, with the namespaces and Clusters of Shoots."""
    with ControlPlane() as plane:
        define(plane)
        for make in (_namespace, cluster):
            send_all(plane, (creation(*make(number)) for number in range(shoots)))
        yield plane


def creation(resource: Resource, manifest: Manifest) -> Prepared:
    """The request that makes an object."""
    path, _, _ = object_path(resource, key_of(manifest)).rpartition("/")
    return Prepared("POST", path, _body(resource, manifest))


def change(resource: Resource, manifest: Manifest, patch: Mapping[str, Any], subresource: str = "") -> Prepared:
    """The request that merges something into an object."""
    path = object_path(resource, key_of(manifest)) + subresource
    return Prepared("PATCH", path, json.dumps(patch).encode(), "application/merge-patch+json")


def namespace_of(number: int) -> str:
    """The namespace of a Shoot's control plane."""
    return f"shoot--local--s{number}"


def _namespace(number: int) -> tuple[Resource, Manifest]:
    return NAMESPACES, {"metadata": {"name": namespace_of(number)}}


def cluster(number: int) -> tuple[Resource, Manifest]:
    """The Cluster of a Shoot, which names a Secret with certificates."""
    reference = {"name": "rsyslog-tls", "resourceRef": {"apiVersion": "v1", "kind": "Secret", "name": "rsyslog-tls"}}
    shoot = {
        "metadata": {"name": f"s{number}", "uid": f"00000000-0000-4000-8000-{number:012}"},
        "spec": {"resources": [reference]},
        "status": {"lastOperation": {"type": "Reconcile", "state": "Succeeded", "progress": 100}},
    }
    machines = [
        {"name": f"machine-{type_}", "cpu": "4", "gpu": "0", "memory": "16Gi", "architecture": "amd64", "usable": True}
        for type_ in range(MACHINE_TYPES)
    ]
    profile = {"metadata": {"name": "local"}, "spec": {"machineTypes": machines}}
    return CLUSTERS, {"metadata": {"name": namespace_of(number)}, "spec": {"shoot": shoot, "cloudProfile": profile}}


def extension(number: int, config: Mapping[str, Any] | None = None) -> Manifest:
    """The Extension of a Shoot as Gardener makes it."""
    spec = {"type": TYPE, **({"providerConfig": config} if config else {})}
    metadata = {"namespace": namespace_of(number), "name": TYPE, "annotations": {OPERATION: "reconcile"}}
    return {"metadata": metadata, "spec": spec}


def _body(resource: Resource, manifest: Manifest) -> bytes:
    return json.dumps({"apiVersion": resource.api_version, "kind": resource.kind, **manifest}).encode()
