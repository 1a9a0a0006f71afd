"""What the rules read of Namespaces, Endpoints and Clusters.

A Namespace is taken as an API server stores it: one without a phase is not active. The shoot in a Cluster is of any
shape, since nothing checks it; where it cannot be read, there is none.

Source: network-and-nodes §3.2, §3.8, §3.10.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.objects import Manifest, is_terminating, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, integer_at, list_at, object_at, objects_at, text_at
from hedgerow.network_policies import PortManifest

_NOTHING: Mapping[str, Any] = {}


class NamespaceView(NamedTuple):
    """A Namespace as the rules see it."""

    name: str
    labels: Mapping[str, str]
    phase: str = "Active"
    deleting: bool = False

    @classmethod
    def of(cls, namespace: Manifest) -> "NamespaceView":
        """The view of a manifest, with the name label that every stored Namespace carries."""
        name = key_of(namespace).name
        phase = (namespace.get("status") or _NOTHING).get("phase") or ""
        return cls(name, {**labels_of(namespace), METADATA_NAME: name}, phase, is_terminating(namespace))

    @property
    def is_active(self) -> bool:
        """Whether anything is to be done in it at all."""
        return self.phase == "Active" and not self.deleting


class EndpointSubset(NamedTuple):
    """Addresses that serve the same ports."""

    addresses: tuple[str, ...]
    """Those that are ready."""
    ports: tuple[PortManifest, ...]


def subsets_of(endpoints: Manifest) -> tuple[EndpointSubset, ...] | None:
    """The subsets of an Endpoints object, each port with its own protocol; none if they cannot be read."""
    try:
        return tuple(map(_subset, objects_at(endpoints, "subsets")))
    except UnreadableError:
        return None


def _subset(subset: Manifest) -> EndpointSubset:
    return EndpointSubset(
        tuple(text_at(address, "ip") or "" for address in objects_at(subset, "addresses")),
        tuple(
            {"protocol": text_at(port, "protocol") or "TCP", "port": integer_at(port, "port") or 0}
            for port in objects_at(subset, "ports")
        ),
    )


class ShootNetworks(NamedTuple):
    """The networks of a shoot, as CIDRs that nobody has checked."""

    nodes: str | None = None
    pods: str | None = None
    services: str | None = None

    def named(self) -> list[tuple[str, str]]:
        """Those that are set, each behind what it is called."""
        return [(f"shoot network {name}", text) for name, text in self._asdict().items() if text]


class ShootView(NamedTuple):
    """The shoot in a Cluster as the rules see it."""

    has_workers: bool
    networking: ShootNetworks | None
    """None: the shoot does not say anything about its networks."""

    @classmethod
    def of(cls, cluster: Manifest) -> "ShootView | None":
        """The shoot in a Cluster; none if there is none, or none that can be read."""
        try:
            if not object_at(cluster, "spec", "shoot"):
                return None
            spec = object_at(cluster, "spec", "shoot", "spec")
            workers = list_at(spec, "provider", "workers")
            networking = _networks_of(spec) if spec.get("networking") is not None else None
        except UnreadableError:
            return None
        return cls(bool(workers), networking)

    @property
    def networks(self) -> ShootNetworks:
        """The networks that are set."""
        return self.networking or ShootNetworks()

    def manifest(self) -> dict[str, Any]:
        """A shoot of which just this is left."""
        spec: dict[str, Any] = {"provider": {"workers": [{}] if self.has_workers else []}}
        if self.networking is not None:
            spec["networking"] = {name: text for name, text in self.networking._asdict().items() if text}
        return {"spec": spec}


def _networks_of(spec: Manifest) -> ShootNetworks:
    return ShootNetworks(*(text_at(spec, "networking", name) for name in ShootNetworks._fields))
