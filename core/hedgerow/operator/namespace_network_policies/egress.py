"""Where pods may connect to: the rules of each policy that opens something.

What is blocked is never opened by the way: a range that something blocked or closed covers is no peer, and without a
peer there is no rule, since a rule that names none would open everything.

Source: network-and-nodes §3.5, §3.6, §3.9.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import ENDPOINTS, METADATA_NAME
from hedgerow.network_policies import EgressRule, PeerManifest, PortManifest
from hedgerow.operator.namespace_network_policies.blocks import (
    Block,
    UnknownRangeError,
    except_blocks,
    host_block,
    is_covered,
    offset_ip,
    parse_block,
    parse_blocks,
)
from hedgerow.operator.namespace_network_policies.views import API_SERVER, EndpointSubset, NamespaceFacts, ShootNetworks

DNS_OFFSET: Final = 10
"""The place of cluster DNS among the addresses of Services."""
NODE_LOCAL_DNS: Final = "169.254.20.10/32"
_DNS_PORTS: Final = (("UDP", 53), ("TCP", 53), ("UDP", 8053), ("TCP", 8053))


class EgressProblem(NamedTuple):
    """Why it is unknown where a policy leads."""

    text: str
    """One clause without a full stop."""
    retryable: bool = False
    """True if nothing tells when the problem is over, so that the policy has to be tried again."""


class NoShootError(UnknownRangeError):
    """The shoot of a namespace is unknown, and nothing tells when it is known."""


Rules: TypeAlias = tuple[EgressRule, ...]

PUBLIC: Final = parse_block("0.0.0.0/0")
PRIVATE: Final = tuple(map(parse_block, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Private networks and the one of carriers. Source: RFC 1918, RFC 6598."""


def egress_rules(rules: Callable[[NamespaceFacts], Rules], facts: NamespaceFacts) -> Rules | EgressProblem:
    """The rules of one policy in a namespace; or why they are unknown."""
    try:
        return rules(facts)
    except UnknownRangeError as error:
        return EgressProblem(str(error), retryable=isinstance(error, NoShootError))


def to_runtime_api_server(facts: NamespaceFacts) -> Rules:
    """One rule for each subset of the API server's endpoints, those last that its name was resolved to."""
    if facts.api_endpoints is None:
        raise UnknownRangeError(f"{ENDPOINTS.kind} {API_SERVER} does not exist, or cannot be read")
    subsets = [*facts.api_endpoints]
    if resolved := facts.config.resolved:
        subsets.append(EndpointSubset(resolved.addresses, ({"protocol": "TCP", "port": resolved.port},)))
    return tuple(_to_endpoints(subset) for subset in subsets if subset.addresses and subset.ports)


def _to_endpoints(subset: EndpointSubset) -> EgressRule:
    """A rule for one subset; each address counts once."""
    try:
        blocks = dict.fromkeys(map(host_block, subset.addresses))
    except UnknownRangeError as error:
        raise UnknownRangeError(f"API server endpoint {error}") from error
    return _rule(map(_peer, blocks), subset.ports)


def to_public_networks(facts: NamespaceFacts) -> Rules:
    """Everything of IPv4 that is neither private nor blocked."""
    return _open([PUBLIC], (*PRIVATE, *facts.config.networks.blocked()))


def to_private_networks(facts: NamespaceFacts) -> Rules:
    """Private networks without those of this cluster and, in the namespace of a shoot, of the shoot."""
    shoot = _shoot_networks(facts) if facts.is_of_a_shoot else ShootNetworks()
    return _open(PRIVATE, (*facts.config.networks.closed(), *parse_blocks(shoot.named())))


def to_blocked_cidrs(facts: NamespaceFacts) -> Rules:
    """Each blocked range, for those few who are to reach it."""
    return tuple(_rule([_peer(block.text)]) for block in facts.config.networks.blocked())


def to_dns(facts: NamespaceFacts) -> Rules:
    """Cluster DNS: its pods, those on each node, and the addresses by which both are asked."""
    services = facts.config.networks.service_block()
    try:
        dns = host_block(offset_ip(services, DNS_OFFSET))
    except UnknownRangeError as error:
        raise UnknownRangeError(f"cannot calculate CoreDNS ClusterIP: {error}") from error
    peers = [_system_pods("kube-dns"), _system_pods("node-local-dns"), _peer(dns), _peer(NODE_LOCAL_DNS)]
    return (_rule(peers, [{"protocol": protocol, "port": port} for protocol, port in _DNS_PORTS]),)


def to_shoot_networks(facts: NamespaceFacts) -> Rules:
    """The networks of the shoot, without what is blocked."""
    return _open(parse_blocks(_shoot_networks(facts).named()), facts.config.networks.blocked())


def _shoot_networks(facts: NamespaceFacts) -> ShootNetworks:
    if facts.shoot is None:
        # The Cluster comes a moment after the namespace, and no event tells that it now holds a shoot.
        raise NoShootError(f"Cluster {facts.namespace.name} does not exist, or holds no shoot that can be read")
    return facts.shoot.networks


def _open(parents: Iterable[Block], candidates: Sequence[Block]) -> Rules:
    """One rule for ranges without what lies inside them of others; none where nothing is left."""
    open_parents = [parent for parent in parents if not is_covered(parent, candidates)]
    peers = [_peer(str(parent.network), except_blocks(parent, candidates)) for parent in open_parents]
    return (_rule(peers),) if peers else ()


def _peer(cidr: str, exceptions: Sequence[str] = ()) -> PeerManifest:
    return {"ipBlock": {"cidr": cidr, **({"except": [*exceptions]} if exceptions else {})}}


def _system_pods(app: str) -> PeerManifest:
    return {
        "namespaceSelector": {"matchLabels": {METADATA_NAME: "kube-system"}},
        "podSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": [app]}]},
    }


def _rule(peers: Iterable[PeerManifest], ports: Sequence[PortManifest] = ()) -> EgressRule:
    return {"to": [*peers], "ports": [*ports]} if ports else {"to": [*peers]}
