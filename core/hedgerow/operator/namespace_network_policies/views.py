"""What the rules read: Namespaces, Endpoints, Clusters, and the configured networks.

A Namespace without a phase is not active, as an API server stores one with each. Nothing checks the shoot in a Cluster,
so one that cannot be read counts as none.

Source: network-and-nodes §3.2, §3.3, §3.7, §3.8, §3.10.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.api.network_policies import PortManifest
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, integer_at, list_at, object_at, objects_at, text_at
from hedgerow.machinery.selectors import LabelSelector

API_SERVER: Final = ObjectKey("default", "kubernetes")
"""The Endpoints of the API server."""


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
        phase = (namespace.get("status") or {}).get("phase") or ""
        return cls(name, {**labels_of(namespace), METADATA_NAME: name}, phase, is_terminating(namespace))


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
    """The networks of a shoot, as unchecked CIDRs."""

    nodes: str | None = None
    pods: str | None = None
    services: str | None = None


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
            workers, networking = list_at(spec, "provider", "workers"), None
            if spec.get("networking") is not None:
                networking = ShootNetworks(*(text_at(spec, "networking", name) for name in ShootNetworks._fields))
        except UnreadableError:
            return None
        return cls(bool(workers), networking)

    @property
    def networks(self) -> ShootNetworks:
        """The networks that are set."""
        return self.networking or ShootNetworks()


@dataclass(frozen=True, slots=True)
class RuntimeNetworks:
    """The networks of the cluster in which the controller runs, as unchecked CIDRs."""

    pods: str
    services: str
    nodes: str | None = None
    block_cidrs: tuple[str, ...] = ()
    """Closed to all pods but those that are labelled for them."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The addresses that the name of the API server was resolved to."""

    addresses: tuple[str, ...]
    """Sorted; none as long as it has not been resolved."""
    port: int


@dataclass(frozen=True, slots=True)
class NamespacePolicyConfig:
    """All that decides about the policies of namespaces beside the objects of the cluster."""

    networks: RuntimeNetworks
    additional_selectors: tuple[LabelSelector, ...] = ()
    """Of further namespaces, which get all policies but the one for shoots."""
    resolved: Resolved | None = None
    """None: the API server is reached by address, so there is nothing to resolve."""


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """A namespace, and what is known of its cluster."""

    namespace: NamespaceView
    config: NamespacePolicyConfig
    api_endpoints: tuple[EndpointSubset, ...] | None = None
    """Where the API server is; none if its Endpoints do not exist or cannot be read."""
    shoot: ShootView | None = None
    """The shoot that has this namespace; none if it is unknown."""
