"""Which container ports a Service opens to labelled pods, and from which namespaces.

Source: network-and-nodes §2.5, the first two rows of the sources.
"""

from collections.abc import Mapping
from typing import NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import SERVICES
from hedgerow.api.network_policies import (
    ALLOWED_PORTS_PREFIX,
    ALLOWED_PORTS_SUFFIX,
    NAMESPACE_SELECTORS,
    allowed_ports_alias,
    annotation_field,
)
from hedgerow.machinery.failures import DomainFailure
from hedgerow.resource_manager.network_policies.facts import Facts
from hedgerow.resource_manager.network_policies.peers import parse_namespace_selectors, peer_namespaces
from hedgerow.resource_manager.network_policies.ports import (
    PolicyPort,
    parse_ports_annotation,
    too_many_ports,
)
from hedgerow.resource_manager.network_policies.views import ServiceView


class Opening(NamedTuple):
    """One container port that pods with a certain label may reach."""

    port: PolicyPort
    alias: str
    """What the label is called after; empty: after the Service and the port."""
    reason: str
    field: str
    """Where the Service asks for it."""


def openings_of(service: ServiceView) -> Result[tuple[Opening, ...], tuple[DomainFailure, ...]]:
    """The ports of the Service's spec, then those of its allowed-ports annotations by alias, each once.

    They are sorted, so that which of two gets a name that both ask for does not depend on the order they stand in. An
    annotation that cannot be understood forbids everything: nobody knows which policies it stands for.
    """
    if problem := too_many_ports(len(service.ports)):
        return Failure((DomainFailure(SERVICES, service.key, "spec.ports", problem),))
    openings = [
        Opening(port.target, "", "service-port", f"spec.ports[{position}]")
        for position, port in enumerate(service.ports)
    ]
    failures: list[DomainFailure] = []
    for alias, value in from_policy_aliases(service.annotations).items():
        field = annotation_field(f"{ALLOWED_PORTS_PREFIX}{alias}{ALLOWED_PORTS_SUFFIX}")
        match _complete_ports(value):
            case Success(ports):
                openings += [Opening(port, alias, "allowed-ports", field) for port in ports]
            case Failure(problem):
                failures.append(DomainFailure(SERVICES, service.key, field, problem))
    if failures:
        return Failure(tuple(failures))
    return Success(tuple(sorted({opening[:2]: opening for opening in reversed(openings)}.values(), key=_rank)))


def _rank(opening: Opening) -> tuple[str, str, str, int]:
    protocol, _, end_port = opening.port
    return opening.alias, opening.port.text, protocol or "", end_port or 0


def from_policy_aliases(annotations: Mapping[str, str]) -> dict[str, str]:
    """The aliases of a Service's `from-<alias>-allowed-ports` annotations with their values, by alias."""
    return dict(sorted([(alias, value) for name, value in annotations.items() if (alias := allowed_ports_alias(name))]))


def _complete_ports(text: str) -> Result[tuple[PolicyPort, ...], str]:
    """The ports of an annotation whose entries each make a policy of their own, so that each has to name a port."""
    return parse_ports_annotation(text).bind(_with_port_and_protocol)


def _with_port_and_protocol(ports: tuple[PolicyPort, ...]) -> Result[tuple[PolicyPort, ...], str]:
    for position, port in enumerate(ports):
        if port.port is None:
            return Failure(f"[{position}].port is missing")
    return Success(tuple([port._replace(protocol=port.protocol or "TCP") for port in ports]))


def peers_of(facts: Facts) -> Result[tuple[str, ...], tuple[DomainFailure, ...]]:
    """The namespaces whose labelled pods may connect: the Service's own, then those that its annotation selects."""
    service = facts.service
    annotation = service.annotations.get(NAMESPACE_SELECTORS)
    if annotation is None:
        return Success((service.key.namespace,))
    return (
        parse_namespace_selectors(annotation)
        .map(lambda selectors: peer_namespaces(service.key.namespace, facts.namespaces.values(), selectors))
        .alt(lambda problem: (DomainFailure(SERVICES, service.key, annotation_field(NAMESPACE_SELECTORS), problem),))
    )
