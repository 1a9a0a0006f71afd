"""Where pods may connect to: the rules of each policy that opens something.

What is blocked is never opened by the way: a range that something blocked or closed covers is no peer, and without a
peer there is no rule, since a rule that names none would open everything.

Source: network-and-nodes §3.5, §3.6, §3.9.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import ENDPOINTS, METADATA_NAME
from hedgerow.network_policies import EgressRule, PeerManifest, PortManifest
from hedgerow.operator.namespace_network_policies.blocks import (
    Block,
    except_blocks,
    host_block,
    host_blocks,
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
    """Whether nothing tells when it is over, so that it has to be tried again."""


Rules: TypeAlias = Result[tuple[EgressRule, ...], EgressProblem]


def _block(text: str) -> Block:
    return parse_block(text).unwrap()


PUBLIC: Final = _block("0.0.0.0/0")
PRIVATE: Final = tuple(map(_block, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Private networks and the one of carriers. Source: RFC 1918, RFC 6598."""


def to_runtime_api_server(facts: NamespaceFacts) -> Rules:
    """One rule for each subset of the API server's endpoints, those last that its name was resolved to."""
    if facts.api_endpoints is None:
        return Failure(EgressProblem(f"{ENDPOINTS.kind} {API_SERVER} does not exist, or cannot be read"))
    subsets = [*facts.api_endpoints]
    if resolved := facts.config.resolved:
        subsets.append(EndpointSubset(resolved.addresses, ({"protocol": "TCP", "port": resolved.port},)))
    rules = []
    for subset in subsets:
        if not subset.addresses or not subset.ports:
            continue
        match host_blocks(subset.addresses):
            case Success(blocks):
                rules.append(_rule([_peer(block) for block in blocks], subset.ports))
            case Failure(problem):
                return Failure(EgressProblem(f"API server endpoint {problem}"))
    return Success(tuple(rules))


def to_public_networks(facts: NamespaceFacts) -> Rules:
    """Everything of IPv4 that is neither private nor blocked."""

    def rules(blocked: tuple[Block, ...]) -> tuple[EgressRule, ...]:
        return _open([PUBLIC], (*PRIVATE, *blocked))

    return facts.config.networks.blocked().map(rules).alt(EgressProblem)


def to_private_networks(facts: NamespaceFacts) -> Rules:
    """Private networks without those of this cluster and, in the namespace of a shoot, of the shoot."""
    shoot = _shoot_networks(facts) if facts.is_of_a_shoot else Success(ShootNetworks())
    return shoot.bind(lambda networks: _to_private_networks_but(facts, networks))


def _to_private_networks_but(facts: NamespaceFacts, shoot: ShootNetworks) -> Rules:
    closed = facts.config.networks.closed()
    return (
        closed.bind(lambda runtime: parse_blocks(shoot.named()).map(lambda others: (*runtime, *others)))
        .map(lambda blocks: _open(PRIVATE, blocks))
        .alt(EgressProblem)
    )


def to_blocked_cidrs(facts: NamespaceFacts) -> Rules:
    """Each blocked range, for those few who are to reach it."""

    def rules(blocked: tuple[Block, ...]) -> tuple[EgressRule, ...]:
        return tuple(_rule([_peer(block.text)]) for block in blocked)

    return facts.config.networks.blocked().map(rules).alt(EgressProblem)


def to_dns(facts: NamespaceFacts) -> Rules:
    """Cluster DNS: its pods, those on each node, and the addresses by which both are asked."""

    def address(services: Block) -> Result[str, str]:
        return (
            offset_ip(services, DNS_OFFSET)
            .bind(host_block)
            .alt(lambda problem: f"cannot calculate CoreDNS ClusterIP: {problem}")
        )

    def rules(dns: str) -> tuple[EgressRule, ...]:
        pods = [_system_pods("kube-dns"), _system_pods("node-local-dns")]
        ports: list[PortManifest] = [{"protocol": protocol, "port": port} for protocol, port in _DNS_PORTS]
        return (_rule([*pods, _peer(dns), _peer(NODE_LOCAL_DNS)], ports),)

    return facts.config.networks.service_block().bind(address).map(rules).alt(EgressProblem)


def to_shoot_networks(facts: NamespaceFacts) -> Rules:
    """The networks of the shoot, without what is blocked."""
    return _shoot_networks(facts).bind(lambda networks: _to_networks_of(networks, facts))


def _to_networks_of(networks: ShootNetworks, facts: NamespaceFacts) -> Rules:
    shoot = parse_blocks(networks.named())
    blocked = facts.config.networks.blocked()
    return shoot.bind(lambda parents: blocked.map(lambda blocks: _open(parents, blocks))).alt(EgressProblem)


def _shoot_networks(facts: NamespaceFacts) -> Result[ShootNetworks, EgressProblem]:
    if facts.shoot is not None:
        return Success(facts.shoot.networks)
    name = facts.namespace.name
    # The Cluster comes a moment after the namespace, and what does not hold a shoot yet is not told of when it does.
    return Failure(EgressProblem(f"Cluster {name} does not exist, or holds no shoot that can be read", retryable=True))


def _open(parents: Iterable[Block], candidates: Sequence[Block]) -> tuple[EgressRule, ...]:
    """One rule for ranges without what lies inside them of others; none where nothing is left."""
    peers = [_peer_without(parent, candidates) for parent in parents if not is_covered(parent, candidates)]
    return (_rule(peers),) if peers else ()


def _peer_without(parent: Block, candidates: Sequence[Block]) -> PeerManifest:
    exceptions = except_blocks(parent, candidates)
    return {"ipBlock": {"cidr": str(parent.network), **({"except": [*exceptions]} if exceptions else {})}}


def _peer(cidr: str) -> PeerManifest:
    return {"ipBlock": {"cidr": cidr}}


def _system_pods(app: str) -> PeerManifest:
    return {
        "namespaceSelector": {"matchLabels": {METADATA_NAME: "kube-system"}},
        "podSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": [app]}]},
    }


def _rule(peers: Sequence[PeerManifest], ports: Sequence[PortManifest] = ()) -> EgressRule:
    return {"to": [*peers], "ports": [*ports]} if ports else {"to": [*peers]}
