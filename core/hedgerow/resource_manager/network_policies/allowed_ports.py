"""Whether a Service gets policies at all, which container ports it opens, and from which namespaces.

Source: network-and-nodes §2.4 steps 2, 3 and 5, §2.5, §2.7.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from returns import result
from returns.result import Result, Success

from hedgerow.api.kubernetes import SERVICES
from hedgerow.api.network_policies import (
    ALLOWED_PORTS_PREFIX,
    ALLOWED_PORTS_SUFFIX,
    NAMESPACE_SELECTORS,
    allowed_ports_alias,
)
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.remembering import remembered
from hedgerow.machinery.selectors import LabelSelector, matches_any, parse_label_selector
from hedgerow.resource_manager.network_policies.ports import (
    PolicyPort,
    json_list,
    parse_ports_annotation,
    too_many_ports,
)
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressView,
    NamespaceView,
    NetworkPolicyConfig,
    Service,
    ServiceFacts,
    ServiceView,
)

MOST_TERMS: Final = 250
"""Labels, expressions and values of all selectors of a Service. Each is compared with every Namespace, and of 2 000
Namespaces that takes 80 ms."""


@remembered
def parse_namespace_selectors(text: str) -> Result[tuple[LabelSelector, ...], str]:
    """The label selectors that an annotation value lists, or why it is no list of label selectors; `null` is empty."""
    try:
        entries = json_list(text)
    except ValueError as error:
        return result.Failure(str(error))
    selectors: list[LabelSelector] = []
    terms = 0
    for position, entry in enumerate(entries):
        selector = parse_label_selector(entry, f"[{position}]")
        if isinstance(selector, result.Failure):
            return result.Failure("; ".join(f"{problem.path} {problem.text}" for problem in selector.failure()))
        parsed = selector.unwrap()
        selectors.append(parsed)
        expressions = parsed.match_expressions
        # The empty selector is compared as well.
        terms += max(1, len(parsed.match_labels) + sum(1 + len(expression.values) for expression in expressions))
        if terms > MOST_TERMS:
            return result.Failure(f"holds more than {MOST_TERMS} labels, expressions and values")
    return Success(tuple(selectors))


def namespaces_that_matter(service: ServiceView, config: NetworkPolicyConfig) -> frozenset[str] | None:
    """The names of the Namespaces that decide about a Service; none: all of them, as it selects among them."""
    if NAMESPACE_SELECTORS in service.annotations:
        return None
    own, controller = service.key.namespace, config.ingress_controller
    return frozenset({own, controller.namespace} if controller else {own})


def peer_namespaces(
    own: str, namespaces: Iterable[NamespaceView], selectors: tuple[LabelSelector, ...]
) -> tuple[str, ...]:
    """The Service's own namespace, then the others that a selector matches and that are not terminating, by name."""
    living = (namespace for namespace in namespaces if selectors and not namespace.terminating)
    matching = {namespace.name for namespace in living if matches_any(selectors, namespace.labels)}
    return (own, *sorted(matching - {own}))


class AllowedPort(NamedTuple):
    """One container port that pods with a certain label may reach."""

    port: PolicyPort
    alias: str
    """The name in the label; empty: the label has the names of the Service and the port."""
    reason: str
    field: str
    """The field of the Service that asks for the port."""


def allowed_ports_of(service: ServiceView) -> Result[tuple[AllowedPort, ...], tuple[Failure, ...]]:
    """The ports of the Service's spec, then those of its allowed-ports annotations by alias, each once.

    They are sorted: if two ask for the same policy name, their order in the object must not decide. An annotation that
    cannot be parsed is a failure of the whole Service, because the policies that it asks for are unknown.
    """
    if problem := too_many_ports(len(service.ports)):
        return result.Failure((Failure(SERVICES, service.key, Problem("spec.ports", problem)),))
    allowed_ports = [
        AllowedPort(port.target, "", "service-port", f"spec.ports[{position}]")
        for position, port in enumerate(service.ports)
    ]
    failures: list[Failure] = []
    for alias, value in from_policy_aliases(service.annotations).items():
        field = annotation_path(f"{ALLOWED_PORTS_PREFIX}{alias}{ALLOWED_PORTS_SUFFIX}")
        ports = parse_ports_annotation(value).bind(_complete)
        if isinstance(ports, result.Failure):
            failures.append(Failure(SERVICES, service.key, Problem(field, ports.failure())))
        else:
            allowed_ports += [AllowedPort(port, alias, "allowed-ports", field) for port in ports.unwrap()]
    if failures:
        return result.Failure(tuple(failures))
    first = {allowed[:2]: allowed for allowed in reversed(allowed_ports)}.values()
    return Success(tuple(sorted(first, key=_rank) if len(first) > 1 else first))


def _rank(allowed: AllowedPort) -> tuple[str, str, str, int]:
    protocol, _, end_port = allowed.port
    return allowed.alias, allowed.port.text, protocol or "", end_port or 0


def from_policy_aliases(annotations: Mapping[str, str]) -> dict[str, str]:
    """The aliases of a Service's `from-<alias>-allowed-ports` annotations with their values, by alias."""
    return dict(sorted([(alias, value) for name, value in annotations.items() if (alias := allowed_ports_alias(name))]))


def _complete(ports: tuple[PolicyPort, ...]) -> Result[tuple[PolicyPort, ...], str]:
    """The ports of an annotation whose entries each make a policy of their own, so that each has to name a port."""
    for position, port in enumerate(ports):
        if port.port is None:
            return result.Failure(f"[{position}].port is missing")
    return Success(tuple([port._replace(protocol=port.protocol or "TCP") for port in ports]))


def peers_of(facts: ServiceFacts) -> Result[tuple[str, ...], tuple[Failure, ...]]:
    """The namespaces whose labelled pods may connect: the Service's own, then those that its annotation selects."""
    service = facts.service
    annotation = service.annotations.get(NAMESPACE_SELECTORS)
    if annotation is None:
        return Success((service.key.namespace,))
    return (
        parse_namespace_selectors(annotation)
        .map(lambda selectors: peer_namespaces(service.key.namespace, facts.namespaces.values(), selectors))
        .alt(lambda problem: (Failure(SERVICES, service.key, Problem(annotation_path(NAMESPACE_SELECTORS), problem)),))
    )


def ingress_backend_ports(service: Service, ingresses: Iterable[Ingress]) -> tuple[PolicyPort, ...]:
    """The container ports of a Service that Ingresses of its namespace route to, each once, in order of appearance.

    A backend that names a port means the Service port of that name, one with a number the port of that number; a
    backend that fits no port of the Service opens nothing.
    """
    view = ServiceView.of(service)
    targets: defaultdict[object, list[PolicyPort]] = defaultdict(list)
    for port in view.ports:
        targets[port.name].append(port.target)
        targets[port.number].append(port.target)
    backends = dict.fromkeys(
        backend
        for ingress in map(IngressView.of, ingresses)
        if ingress.namespace == view.key.namespace
        for backend in ingress.backends
        if backend.service == view.key.name
    )
    meant = (backend.port_name or backend.port_number for backend in backends)
    return tuple(dict.fromkeys(target for each in meant if each is not None for target in targets.get(each, ())))


def services_of_ingress(ingress: Ingress) -> frozenset[ObjectKey]:
    """The keys of the Services that the paths of an Ingress lead to."""
    view = IngressView.of(ingress)
    return frozenset(ObjectKey(view.namespace, backend.service) for backend in view.backends)


def no_policies_because(facts: ServiceFacts) -> str:
    """The first reason for which the Service gets no policy; empty if it may have some.

    A Service without a selector does not say which pods to open. The configuration handles the namespaces that one of
    its selectors matches; without selectors, all.
    """
    if facts.service.terminating:
        return "service-terminating"
    if not facts.service.selector:
        return "service-without-selector"
    selectors, namespace = facts.config.namespace_selectors, facts.own_namespace
    if selectors and not matches_any(selectors, namespace.labels):
        return "namespace-not-handled"
    return "namespace-terminating" if namespace.terminating else ""
