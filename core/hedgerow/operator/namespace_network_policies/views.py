"""What the rules read: Namespaces, Endpoints, Clusters, and the networks that are configured.

A Namespace is taken as an API server stores it: one without a phase is not active. The shoot in a Cluster is of any
shape, since nothing checks it; where it cannot be read, there is none.

Source: network-and-nodes §3.2, §3.3, §3.7, §3.8, §3.10.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, integer_at, list_at, object_at, objects_at, text_at
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.network_policies import PortManifest
from hedgerow.operator.namespace_network_policies.blocks import Block, parse_blocks

API_SERVER: Final = ObjectKey("default", "kubernetes")
"""The Endpoints of the API server."""
_SHOOT_NAMESPACE_PREFIX: Final = "shoot-"
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


@dataclass(frozen=True, slots=True)
class RuntimeNetworks:
    """The networks of the cluster in which the controller runs, as CIDRs that nobody has checked."""

    pods: str
    services: str
    nodes: str | None = None
    block_cidrs: tuple[str, ...] = ()
    """What pods must not reach, unless they are labelled for just that."""

    def blocked(self) -> tuple[Block, ...]:
        """The blocked ranges. It raises UnknownRangeError, as those below do."""
        return parse_blocks(self._blocked())

    def closed(self) -> tuple[Block, ...]:
        """All that is no private network of somebody else: pods, services, what is blocked, nodes; in this order."""
        return parse_blocks(self._closed())

    def service_block(self) -> Block:
        """The range of the Services."""
        return parse_blocks([("runtime network services", self.services)])[0]

    def _blocked(self) -> Iterator[tuple[str, str]]:
        for position, text in enumerate(self.block_cidrs):
            yield f"runtime network blockCIDRs[{position}]", text

    def _closed(self) -> Iterator[tuple[str, str]]:
        yield "runtime network pods", self.pods
        yield "runtime network services", self.services
        yield from self._blocked()
        if self.nodes is not None:
            yield "runtime network nodes", self.nodes


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the name of the API server was resolved to."""

    addresses: tuple[str, ...]
    """Sorted; none as long as it has not been resolved."""
    port: int

    @property
    def is_in_sync(self) -> bool:
        """Whether it is known where the API server is."""
        return bool(self.addresses)


@dataclass(frozen=True, slots=True)
class NamespacePolicyConfig:
    """Everything beside the objects of the cluster that decides about the policies of namespaces."""

    networks: RuntimeNetworks
    additional_selectors: tuple[LabelSelector, ...] = ()
    """Of further namespaces that get all policies but the one for shoots."""
    resolved: Resolved | None = None
    """None: the API server is reached by address, so that there is nothing to resolve."""


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """A namespace, with what is known of its cluster."""

    namespace: NamespaceView
    config: NamespacePolicyConfig
    api_endpoints: tuple[EndpointSubset, ...] | None = None
    """Where the API server is; none if its Endpoints do not exist or cannot be read."""
    shoot: ShootView | None = None
    """The shoot whose namespace this is; none if it cannot be known."""

    @property
    def is_of_a_shoot(self) -> bool:
        """Whether its name is that of a shoot's namespace."""
        return self.namespace.name.startswith(_SHOOT_NAMESPACE_PREFIX)
