"""Whether a kubelet gets the serving certificate that it asks for.

Decides from the request, the addresses of the Node and the number of its Machines. The first check that a request
violates is the reason why it is denied. There are three lists of checks, as each needs more live reads than the one
before it. A kubelet writes the addresses of its Node itself, so no name of the API server, of Services or of every
machine is granted even if the Node lists it.

Source: network-and-nodes §6.3; decision D-4; Kubernetes documentation, "DNS for Services and Pods"; RFC 6761 §6.3.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Self, TypeAlias

from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError, each_at, text_at

_ADDRESSES: Final = (
    ("is_loopback", "a loopback address"),
    ("is_unspecified", "the unspecified address"),
    ("is_multicast", "a multicast address"),
    ("is_link_local", "a link-local address"),
)
"""Kubelets refuse them as addresses of their Node, too."""
USER_PREFIX: Final = "system:node:"
GROUP: Final = "system:nodes"


@dataclass(frozen=True, slots=True)
class Names:
    """Names or addresses that a certificate must hold, and those that it may hold as well."""

    required: frozenset[str]
    further: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeAddresses:
    """The names and canonical addresses of a Node."""

    dns: Names
    ip: Names

    @classmethod
    def of(cls, node: Manifest) -> Self:
        """The addresses that a Node reports; a Hostname that is an IP address is one, as kubelets ask for it."""
        hostnames = _addresses(node, "Hostname")
        ips = frozenset(name for name in hostnames if parsed_address(name))
        return cls(
            Names(hostnames - ips, _addresses(node, "InternalDNS", "ExternalDNS")),
            Names(canonical(_addresses(node, "InternalIP") | ips), canonical(_addresses(node, "ExternalIP"))),
        )


def canonical(addresses: Iterable[str]) -> frozenset[str]:
    """IP addresses in canonical spelling; other texts stay, and so equal none."""
    return frozenset(str(parsed_address(text) or text) for text in addresses)


def comparable(names: Iterable[str]) -> frozenset[str]:
    """Names and IP addresses in one spelling each: DNS ignores case and the dot at the end."""
    return canonical(text.lower().rstrip(".") for text in names)


def names_of(node: Manifest) -> frozenset[str]:
    """The name and all addresses of a Node, comparable; of a Node that cannot be read, its name."""
    try:
        addresses = each_at(lambda each: text_at(each, "address"), node, "status", "addresses")
    except UnreadableError:
        addresses = ()
    return comparable((key_of(node).name, *filter(None, addresses)))


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a text spells, as IPv4 if it is mapped into IPv6; none if it spells none."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return address
    # A zone has a meaning on one machine only, and no certificate can hold one.
    return None if address.scope_id is not None else address.ipv4_mapped or address


def _addresses(node: Manifest, *types: str) -> frozenset[str]:
    pairs = each_at(lambda each: (text_at(each, "type"), text_at(each, "address") or ""), node, "status", "addresses")
    return frozenset(address for type_, address in pairs if type_ in types)


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """The part of a certificate request that decides about it."""

    common_name: str
    """The last one of the subject; empty: it has none."""
    organizations: tuple[str, ...] = ()
    dns_names: frozenset[str] = frozenset()
    ip_addresses: frozenset[str] = frozenset()
    """In any spelling."""
    other_names: frozenset[str] = frozenset()
    """Subject alternative names of other kinds, such as URIs."""


Network: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a decision reads, as far as it is known."""

    username: str
    """The user who made the request, as authenticated by the API server."""
    request: CertificateRequest
    groups: frozenset[str] = frozenset()
    """The groups of the user."""
    service_networks: tuple[Network, ...] = ()
    node: NodeAddresses | None = None
    """None: there is no Node of that name."""
    api_server_addresses: frozenset[str] = frozenset()
    """The canonical cluster IPs of the Service `default/kubernetes`."""
    machine_count: int = 0
    machine_namespace: str = ""
    """The namespace of Machines; empty: all that the process reads."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that the process reads; none: all."""


Check: TypeAlias = Callable[[Evidence], str | None]
"""Returns why a request is denied; none if it passes."""


def node_name(request: CertificateRequest) -> str:
    """The Node that a request is for; empty if its common name is not that of a kubelet."""
    name = request.common_name.removeprefix(USER_PREFIX)
    return "" if name == request.common_name else name


def requestor_is_no_node(evidence: Evidence) -> str | None:
    """Nobody else may ask for the certificate of a kubelet."""
    if evidence.username.startswith(USER_PREFIX):
        return None
    return f'username "{evidence.username}" is not prefixed with "{USER_PREFIX}"'


def requestor_is_in_no_nodes_group(evidence: Evidence) -> str | None:
    """A user whose name looks like that of a kubelet is one only in the group of Nodes."""
    return None if GROUP in evidence.groups else f'groups do not contain "{GROUP}"'


def nothing_is_asked_for(evidence: Evidence) -> str | None:
    """A server is known by a name or an address."""
    if evidence.request.dns_names or evidence.request.ip_addresses:
        return None
    return "no DNS names or IP addresses in the SANs found"


def common_name_is_not_the_requestor(evidence: Evidence) -> str | None:
    """No kubelet may ask for the certificate of another."""
    return None if evidence.request.common_name == evidence.username else "common name in CSR does not match username"


def organization_is_not_that_of_nodes(evidence: Evidence) -> str | None:
    """No certificate may name any other group."""
    if evidence.request.organizations == (GROUP,):
        return None
    return "organization in CSR does not match nodes group"


def name_is_reserved(evidence: Evidence) -> str | None:
    """A kubelet writes the addresses of its Node itself: none makes it the API server, a Service or every machine."""
    meanings = ((name, _reserved_meaning(name)) for name in _comparable_names(evidence))
    return next((f'"{name}" in CSR is {meaning}' for name, meaning in meanings if meaning), None)


def _reserved_meaning(name: str) -> str | None:
    """What a comparable name or address means instead of a Node; none if it may be that of a Node."""
    if (address := parsed_address(name)) is not None:
        return next((meaning for attribute, meaning in _ADDRESSES if getattr(address, attribute)), None)
    labels = name.split(".")
    if "*" in name:
        return "a wildcard"
    if ".svc" in name:
        return "a name of Services"
    if labels[0] == "kubernetes":
        return "a name of the API server"
    return "a name of every machine" if "localhost" in {labels[0], labels[-1]} else None


def address_is_in_a_service_network(evidence: Evidence) -> str | None:
    """The addresses of Services belong to no Node."""
    for name in _comparable_names(evidence):
        address = parsed_address(name)
        for network in evidence.service_networks:
            if address and address in network:
                return f'"{name}" in CSR is in the service network {network}'
    return None


def node_is_missing(evidence: Evidence) -> str | None:
    """Only what is part of the cluster serves."""
    if evidence.node is not None:
        return None
    return f'could not find node object with name "{node_name(evidence.request)}"'


def address_is_that_of_the_api_server(evidence: Evidence) -> str | None:
    """Pods reach the API server at the addresses of this Service, whatever the service networks are."""
    taken = (name for name in _comparable_names(evidence) if name in evidence.api_server_addresses)
    return next((f'"{name}" in CSR is an address of the Service default/kubernetes' for name in taken), None)


def machine_is_not_the_only_one(evidence: Evidence) -> str | None:
    """Nodes that nobody ordered are not trusted, nor is one whose machine cannot be told."""
    if evidence.machine_count == 1:
        return None
    where = f'namespace "{evidence.machine_namespace}" for node "{node_name(evidence.request)}"'
    return f"Expected exactly one machine in {where} but found {evidence.machine_count}"


def dns_names_are_not_the_nodes(evidence: Evidence) -> str | None:
    """The host names have to be there, and nothing that is no other name of the Node."""
    asked, names = evidence.request.dns_names, _node(evidence).dns
    if not names.required <= asked:
        return "DNS names in CSR do not contain all addresses of type 'Hostname' in node object"
    if not asked <= names.required | names.further:
        types = "'Hostname' or 'InternalDNS' or 'ExternalDNS'"
        return f"DNS names in CSR do not match addresses of type {types} in node object"
    return None


def ip_addresses_are_not_the_nodes(evidence: Evidence) -> str | None:
    """The internal addresses have to be there, and nothing that is no external address of the Node."""
    asked, addresses = canonical(evidence.request.ip_addresses), _node(evidence).ip
    if not addresses.required <= asked:
        return "IP addresses in CSR do not contain all addresses of type 'InternalIP' in node object"
    if not asked <= addresses.required | addresses.further:
        return "IP addresses in CSR do not match addresses of type 'InternalIP' or 'ExternalIP' in node object"
    return None


def other_names_are_asked_for(evidence: Evidence) -> str | None:
    """Nothing but DNS names and IP addresses can be an address of a Node."""
    return "SANs in CSR are neither DNS names nor IP addresses" if evidence.request.other_names else None


CHECKS_OF_THE_REQUEST: Final[tuple[Check, ...]] = (
    requestor_is_no_node,
    requestor_is_in_no_nodes_group,
    nothing_is_asked_for,
    common_name_is_not_the_requestor,
    organization_is_not_that_of_nodes,
    name_is_reserved,
    address_is_in_a_service_network,
)
CHECKS_WITH_THE_NODE: Final[tuple[Check, ...]] = (node_is_missing, address_is_that_of_the_api_server)
CHECKS_WITH_THE_MACHINES: Final[tuple[Check, ...]] = (
    machine_is_not_the_only_one,
    dns_names_are_not_the_nodes,
    ip_addresses_are_not_the_nodes,
    other_names_are_asked_for,
)
POLICY: Final = (*CHECKS_OF_THE_REQUEST, *CHECKS_WITH_THE_NODE, *CHECKS_WITH_THE_MACHINES)


def denial_reason(evidence: Evidence, checks: Iterable[Check] = POLICY) -> str | None:
    """Why a request is denied, as a clause; none if every check passes."""
    return next((reason for check in checks if (reason := check(evidence)) is not None), None)


def _comparable_names(evidence: Evidence) -> list[str]:
    """All requested names and addresses; a DNS name that spells an IP address counts as that address."""
    return sorted(comparable(evidence.request.dns_names | evidence.request.ip_addresses))


def _node(evidence: Evidence) -> NodeAddresses:
    """The addresses of the Node, which exists, as an earlier check has found."""
    if evidence.node is None:
        raise ValueError("the check that the Node exists comes first")
    return evidence.node
