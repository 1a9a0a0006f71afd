"""Where pods may connect to: ranges of addresses, and the rules of each policy that opens some.

Blocked ranges are never opened by the way: a range that a blocked or closed one covers is no peer, and without peers
there is no rule, because a rule without peers would open everything. Rules raise UnknownRangeError if it is unknown
where a policy leads.

Source: network-and-nodes §3.5, §3.6, §3.9.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_interface
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import ENDPOINTS, METADATA_NAME
from hedgerow.api.network_policies import EgressRule, PeerManifest, PortManifest
from hedgerow.machinery.remembering import remembered
from hedgerow.operator.namespace_network_policies.views import (
    API_SERVER,
    EndpointSubset,
    NamespaceFacts,
    RuntimeNetworks,
    ShootNetworks,
)

DNS_OFFSET: Final = 10
"""The place of cluster DNS among the addresses of Services."""
NODE_LOCAL_DNS: Final = "169.254.20.10/32"
_DNS_PORTS: Final = (("UDP", 53), ("TCP", 53), ("UDP", 8053), ("TCP", 8053))
_CIDR: Final = re.compile(r"[0-9a-fA-F:.]+/(?:0|[1-9][0-9]{0,2})")
_LONGEST_QUOTE: Final = 80

Rules: TypeAlias = tuple[EgressRule, ...]
_NamedText: TypeAlias = tuple[str, str]


class UnknownRangeError(Exception):
    """Why a range of addresses is unknown, as one clause without a full stop."""

    retryable = False


class NoShootError(UnknownRangeError):
    """The shoot of a namespace is unknown, and no event will tell when it is known."""

    retryable = True


class Block(NamedTuple):
    """A range of addresses."""

    text: str
    """As it was written."""
    address: IPv4Address | IPv6Address
    """The address in front of the slash, host bits included."""
    network: IPv4Network | IPv6Network

    def contains(self, other: "Block") -> bool:
        """True if another range lies in this one, or is the same."""
        return (
            self.network.version == other.network.version
            and self.network.prefixlen <= other.network.prefixlen
            and other.address in self.network
        )


@remembered
def _block(text: str) -> Block | None:
    try:
        interface = ip_interface(text) if _CIDR.fullmatch(text) else None
    except ValueError:
        return None
    return None if interface is None else Block(text, interface.ip, interface.network)


def parse_block(text: str) -> Block:
    """The range that a CIDR spells.

    Raises:
        UnknownRangeError: it spells none.
    """
    if (block := _block(text)) is None:
        raise UnknownRangeError(f"{_quoted(text)} is no CIDR")
    return block


def parse_blocks(texts: Iterable[_NamedText]) -> tuple[Block, ...]:
    """The ranges that CIDRs spell, each of which stands behind its name.

    Raises:
        UnknownRangeError: some spell none; it names all of these.
    """
    blocks = [(name, text, _block(text)) for name, text in texts]
    if problems := [f"{name}: {_quoted(text)} is no CIDR" for name, text, block in blocks if block is None]:
        raise UnknownRangeError("; ".join(problems))
    return tuple(block for *_, block in blocks if block)


def except_blocks(parent: Block, candidates: Iterable[Block]) -> tuple[str, ...]:
    """The ranges that lie strictly inside another one, as they were written and in their order."""
    inside = filter(parent.contains, candidates)
    return tuple(block.text for block in inside if block.network.prefixlen > parent.network.prefixlen)


def is_covered(parent: Block, candidates: Iterable[Block]) -> bool:
    """True if one of the candidates leaves nothing of the range."""
    return any(candidate.contains(parent) for candidate in candidates)


def offset_ip(block: Block, offset: int) -> str:
    """The address so many places after the first one of a range.

    Raises:
        UnknownRangeError: the range is too small.
    """
    network = block.network
    if offset >= network.num_addresses:
        raise UnknownRangeError(f'cannot compute IP with offset {offset} - subnet "{network}" too small')
    return str(network.network_address + offset)


def _host_block(address: str) -> str:
    """The range that holds one address alone; raises UnknownRangeError for a text that is none, or one of a link."""
    try:
        parsed = ip_address(address)
    except ValueError as error:
        raise UnknownRangeError(f"{_quoted(address)} is no IP address") from error
    if isinstance(parsed, IPv6Address) and parsed.scope_id:
        raise UnknownRangeError(f"{_quoted(address)} is an IP address of one link only")
    return f"{parsed}/{parsed.max_prefixlen}"


def _quoted(text: str) -> str:
    return f'"{text[:_LONGEST_QUOTE]}"'


PUBLIC: Final = parse_block("0.0.0.0/0")
PRIVATE: Final = tuple(map(parse_block, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Private networks and the one of carriers. Source: RFC 1918, RFC 6598."""


def to_runtime_api_server(facts: NamespaceFacts) -> Rules:
    """One rule for each subset of the API server's endpoints; the addresses that its name resolves to come last."""
    if facts.api_endpoints is None:
        raise UnknownRangeError(f"{ENDPOINTS.kind} {API_SERVER} does not exist, or cannot be read")
    subsets = [*facts.api_endpoints]
    if resolved := facts.config.resolved:
        subsets.append(EndpointSubset(resolved.addresses, ({"protocol": "TCP", "port": resolved.port},)))
    return tuple(_to_endpoints(subset) for subset in subsets if subset.addresses and subset.ports)


def _to_endpoints(subset: EndpointSubset) -> EgressRule:
    """A rule for one subset; each address counts once."""
    try:
        blocks = dict.fromkeys(map(_host_block, subset.addresses))
    except UnknownRangeError as error:
        raise UnknownRangeError(f"API server endpoint {error}") from error
    return {"to": [_peer(block) for block in blocks], "ports": [*subset.ports]}


def to_public_networks(facts: NamespaceFacts) -> Rules:
    """Everything of IPv4 that is neither private nor blocked."""
    return _open([PUBLIC], (*PRIVATE, *parse_blocks(_blocked(facts.config.networks))))


def to_private_networks(facts: NamespaceFacts) -> Rules:
    """Private networks without those of this cluster and, in the namespace of a shoot, of the shoot."""
    networks = facts.config.networks
    closed = [
        ("runtime network pods", networks.pods),
        ("runtime network services", networks.services),
        *_blocked(networks),
    ]
    if networks.nodes is not None:
        closed.append(("runtime network nodes", networks.nodes))
    if facts.namespace.name.startswith("shoot-"):
        closed += _named(_shoot_networks(facts))
    return _open(PRIVATE, parse_blocks(closed))


def to_blocked_cidrs(facts: NamespaceFacts) -> Rules:
    """One rule for each blocked range."""
    return tuple({"to": [_peer(block.text)]} for block in parse_blocks(_blocked(facts.config.networks)))


def to_dns(facts: NamespaceFacts) -> Rules:
    """Cluster DNS: its pods, those on each node, and the addresses of both."""
    (services,) = parse_blocks([("runtime network services", facts.config.networks.services)])
    try:
        dns = _host_block(offset_ip(services, DNS_OFFSET))
    except UnknownRangeError as error:
        raise UnknownRangeError(f"cannot calculate CoreDNS ClusterIP: {error}") from error
    peers = [_system_pods("kube-dns"), _system_pods("node-local-dns"), _peer(dns), _peer(NODE_LOCAL_DNS)]
    ports: list[PortManifest] = [{"protocol": protocol, "port": port} for protocol, port in _DNS_PORTS]
    return ({"to": peers, "ports": ports},)


def to_shoot_networks(facts: NamespaceFacts) -> Rules:
    """The networks of the shoot, without blocked ranges."""
    return _open(parse_blocks(_named(_shoot_networks(facts))), parse_blocks(_blocked(facts.config.networks)))


def _blocked(networks: RuntimeNetworks) -> list[_NamedText]:
    return [(f"runtime network blockCIDRs[{index}]", text) for index, text in enumerate(networks.block_cidrs)]


def _shoot_networks(facts: NamespaceFacts) -> ShootNetworks:
    if facts.shoot is None:
        # The Cluster comes a moment after the namespace, and no event tells that it now holds a shoot.
        raise NoShootError(f"Cluster {facts.namespace.name} does not exist, or holds no shoot that can be read")
    return facts.shoot.networks


def _named(networks: ShootNetworks) -> list[_NamedText]:
    return [(f"shoot network {name}", text) for name, text in networks._asdict().items() if text]


def _open(parents: Iterable[Block], candidates: Sequence[Block]) -> Rules:
    """One rule for ranges, without the candidates that lie inside them; none where nothing is left."""
    open_parents = [parent for parent in parents if not is_covered(parent, candidates)]
    peers = [_peer(str(parent.network), except_blocks(parent, candidates)) for parent in open_parents]
    return ({"to": peers},) if peers else ()


def _peer(cidr: str, exceptions: Sequence[str] = ()) -> PeerManifest:
    return {"ipBlock": {"cidr": cidr, **({"except": [*exceptions]} if exceptions else {})}}


def _system_pods(app: str) -> PeerManifest:
    return {
        "namespaceSelector": {"matchLabels": {METADATA_NAME: "kube-system"}},
        "podSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": [app]}]},
    }
