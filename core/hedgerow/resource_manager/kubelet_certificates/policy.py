"""Whether a kubelet gets the serving certificate that it asks for.

Decides from the request, the addresses of the Node and the number of its Machines. The checks are made in order, and
the first that a request violates is the reason why it is denied. They stand in three lists, as each list needs more to
be found out than the one before it.

Source: network-and-nodes §6.3; decision D-4.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from hedgerow.resource_manager.kubelet_certificates.addresses import NodeAddresses, canonical, comparable
from hedgerow.resource_manager.kubelet_certificates.request import CertificateRequest
from hedgerow.resource_manager.kubelet_certificates.reserved import (
    Network,
    reserved_address,
    reserved_name,
    service_network,
)

USER_PREFIX: Final = "system:node:"
GROUP: Final = "system:nodes"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a decision looks at, as far as it was found out."""

    username: str
    """Who has made the request, as the API server knows him."""
    request: CertificateRequest
    groups: frozenset[str] = frozenset()
    """Those of the user."""
    service_networks: tuple[Network, ...] = ()
    node: NodeAddresses | None = None
    """None: there is no Node of that name."""
    api_server_addresses: frozenset[str] = frozenset()
    """The cluster IPs of the Service `default/kubernetes`, in canonical spelling."""
    machine_count: int = 0
    machine_namespace: str = ""
    """Where Machines were looked for; empty: in all namespaces that are in sight."""
    namespaces: tuple[str, ...] = ()
    """Those that are in sight; none: all."""


Check: TypeAlias = Callable[[Evidence], str | None]
"""Why a request is denied; none if the check has nothing against it."""


def node_name(request: CertificateRequest) -> str:
    """The Node that a request speaks for; empty where its common name is none of a kubelet, or ends too early."""
    prefix, name = request.common_name[: len(USER_PREFIX)], request.common_name[len(USER_PREFIX) :]
    return name if prefix == USER_PREFIX else ""


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
    for name in _comparable_names(evidence):
        if (what := reserved_name(name) or reserved_address(name)) is not None:
            return f'"{name}" in CSR is {what}'
    return None


def address_is_in_a_service_network(evidence: Evidence) -> str | None:
    """The addresses of Services belong to no Node."""
    for name in _comparable_names(evidence):
        if (network := service_network(name, evidence.service_networks)) is not None:
            return f'"{name}" in CSR is in the service network {network}'
    return None


def node_is_missing(evidence: Evidence) -> str | None:
    """Only what is part of the cluster serves."""
    if evidence.node is not None:
        return None
    return f'could not find node object with name "{node_name(evidence.request)}"'


def address_is_that_of_the_api_server(evidence: Evidence) -> str | None:
    """Clients in pods reach the API server at the addresses of this Service, whatever the service networks are."""
    for name in _comparable_names(evidence):
        if name in evidence.api_server_addresses:
            return f'"{name}" in CSR is an address of the Service default/kubernetes'
    return None


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
    """Why a request is denied, as a clause; none if every check has passed.

    Args:
        evidence: as far as the checks need it.
        checks: which ones, in order; all that precede them have passed.
    """
    return next((reason for check in checks if (reason := check(evidence)) is not None), None)


def _comparable_names(evidence: Evidence) -> list[str]:
    """Every name and address that is asked for; a DNS name that spells an IP address counts as that address."""
    return sorted(comparable(evidence.request.dns_names | evidence.request.ip_addresses))


def _node(evidence: Evidence) -> NodeAddresses:
    """The addresses of a Node that is there, as an earlier check has found."""
    if evidence.node is None:
        raise ValueError("the check that the Node exists comes first")
    return evidence.node
