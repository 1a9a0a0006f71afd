"""Which NetworkPolicies a Service asks for, whatever exists already. Source: network-and-nodes §2.4, §2.5, §2.7."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from returns import result
from returns.result import Result, Success

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import FROM_WORLD_TO_PORTS, NAMESPACE_ALIAS
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies.allowed_ports import (
    AllowedPort,
    allowed_ports_of,
    ingress_backend_ports,
    namespaces_that_matter,
    no_policies_because,
    peers_of,
)
from hedgerow.resource_manager.network_policies.policies import (
    NetworkPolicy,
    Target,
    from_world_key,
    ingress_controller_pods,
    labelled_pods,
    pod_label,
    policy_id,
    policy_key,
    policy_name_problem,
)
from hedgerow.resource_manager.network_policies.ports import PolicyPort, parse_ports_annotation, port_problem
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressController,
    IngressView,
    Namespace,
    NamespaceView,
    NetworkPolicyConfig,
    Service,
    ServiceFacts,
    ServiceView,
    name_of,
    shape_failures,
)

MOST_POLICIES: Final = 5000
"""The most policies for labelled pods of one Service. More would keep the process from everything else."""

DEFAULT_CONFIG: Final = NetworkPolicyConfig()
_FROM_CONTROLLER: Final = "from-ingress-controller"


@dataclass(frozen=True, slots=True)
class RefusedPolicy:
    """A policy that no API server would store, or that cannot be worked out. An existing one of that key stays."""

    key: ObjectKey
    failure: Failure


@dataclass(frozen=True, slots=True)
class DesiredPolicies:
    """What a Service asks for, in order of namespace and name."""

    policies: tuple[NetworkPolicy, ...] = ()
    refused: tuple[RefusedPolicy, ...] = ()
    none_because: str = ""
    """Why the Service gets no policy at all; empty if it may have some."""

    @property
    def keys(self) -> frozenset[ObjectKey]:
        """The keys of all policies, refused or not."""
        return frozenset([policy.key for policy in self.policies] + [refusal.key for refusal in self.refused])

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The failures of refused policies, each once."""
        return tuple(dict.fromkeys(refusal.failure for refusal in self.refused))


_Answer: TypeAlias = NetworkPolicy | RefusedPolicy


def desired_network_policies(
    service: Service,
    namespaces: Iterable[Namespace],
    ingresses: Iterable[Ingress] = (),
    config: NetworkPolicyConfig = DEFAULT_CONFIG,
) -> Result[DesiredPolicies, tuple[Failure, ...]]:
    """The NetworkPolicies that a Service asks for, or failures that forbid any write: existing policies stay.

    Objects are parsed manifests or views.

    Args:
        service: the Service.
        namespaces: its own decides whether it is handled, the ingress controller's about egress policies there; others
            matter only if the Service selects namespaces.
        ingresses: those of the Service's namespace; read only if an ingress controller is configured.
        config: which namespaces are handled, and where the ingress controller runs.
    """
    if failures := shape_failures(SERVICES, [service]):
        return result.Failure(failures)
    view = ServiceView.of(service)
    if (names := namespaces_that_matter(view, config)) is not None:
        # One Namespace has each name: once all are found there is nothing left to look for.
        namespaces = islice((namespace for namespace in namespaces if name_of(namespace) in names), len(names))
    relevant = tuple(namespaces)
    routes = tuple(ingresses) if config.ingress_controller else ()
    if failures := (*shape_failures(NAMESPACES, relevant), *shape_failures(INGRESSES, routes)):
        return result.Failure(failures)
    by_name = {namespace.name: namespace for namespace in map(NamespaceView.of, relevant)}
    facts = ServiceFacts(view, by_name, tuple(map(IngressView.of, routes)), config)
    if reason := no_policies_because(facts):
        return Success(DesiredPolicies(none_because=reason))
    allowed_ports, peers = allowed_ports_of(view), peers_of(facts)
    if isinstance(allowed_ports, result.Failure) or isinstance(peers, result.Failure):
        return result.Failure((*allowed_ports.swap().value_or(()), *peers.swap().value_or(())))
    count = 2 * len(allowed_ports.unwrap()) * len(peers.unwrap())
    if count > MOST_POLICIES:
        problem = f"ports and namespaces ask for {count} policies, at most {MOST_POLICIES} are possible"
        return result.Failure((Failure(SERVICES, view.key, Problem("", problem)),))
    return Success(_assembled(_answers(facts, allowed_ports.unwrap(), peers.unwrap())))


def _answers(facts: ServiceFacts, allowed_ports: tuple[AllowedPort, ...], peers: tuple[str, ...]) -> Iterator[_Answer]:
    target = Target(facts.service.key, {"matchLabels": facts.service.selector})
    for allowed in allowed_ports:
        yield from _to_labelled_pods(facts.service, target, allowed, peers)
    yield from _to_everybody(facts.service, target)
    if facts.config.ingress_controller:
        yield from _to_the_ingress_controller(facts, target, allowed_ports, facts.config.ingress_controller)


def _to_labelled_pods(
    service: ServiceView, target: Target, allowed: AllowedPort, peers: tuple[str, ...]
) -> Iterator[_Answer]:
    """One port, opened to the labelled pods of each peer namespace."""
    own = service.key.namespace
    identity = policy_id(service.key.name, allowed.port, allowed.alias)
    permission = target.permission(allowed.port, allowed.reason)
    own_label = pod_label(allowed.alias or identity)
    other_label = pod_label(allowed.alias or identity, service.annotations.get(NAMESPACE_ALIAS, own))
    unfit = unfit_elsewhere = _allowed_port_failure(service, allowed, identity)
    if unfit is None and (problem := label_key_problem(other_label)):
        # All but the alias of such a label stands in the policy's name as well.
        alias = Problem(annotation_path(NAMESPACE_ALIAS), f"makes no pod label: {problem}")
        unfit_elsewhere = Failure(SERVICES, service.key, alias)
    for namespace in peers:
        label, failure = own_label, unfit
        ingress_name, egress_name = f"ingress-to-{identity}", f"egress-to-{identity}"
        if namespace != own:
            label, failure = other_label, unfit_elsewhere
            ingress_name, egress_name = f"{ingress_name}-from-{namespace}", f"egress-to-{own}-{identity}"
        if failure:
            yield RefusedPolicy(policy_key(own, ingress_name), failure)
            yield RefusedPolicy(policy_key(namespace, egress_name), failure)
        else:
            peer = labelled_pods(namespace, label)
            yield permission.ingress_half(ingress_name, peer)
            yield permission.egress_half(egress_name, peer)


def _allowed_port_failure(service: ServiceView, allowed: AllowedPort, identity: str) -> Failure | None:
    problem = port_problem(allowed.port) or policy_name_problem(identity)
    return Failure(SERVICES, service.key, Problem(allowed.field, problem)) if problem else None


def _to_everybody(service: ServiceView, target: Target) -> Iterator[_Answer]:
    """All listed ports in one policy. A value that cannot be understood concerns no other policy."""
    annotation = service.annotations.get(FROM_WORLD_TO_PORTS)
    if annotation is None:
        return
    ports = parse_ports_annotation(annotation).bind(_acceptable)
    if isinstance(ports, result.Failure):
        failure = Failure(SERVICES, service.key, Problem(annotation_path(FROM_WORLD_TO_PORTS), ports.failure()))
        yield RefusedPolicy(from_world_key(service.key), failure)
    else:
        yield target.open_to_the_world(ports.unwrap(), "from-world")


def _acceptable(ports: tuple[PolicyPort, ...]) -> Result[tuple[PolicyPort, ...], str]:
    for position, port in enumerate(ports):
        if problem := port_problem(port):
            return result.Failure(f"[{position}]: {problem}")
    return Success(ports)


def _to_the_ingress_controller(
    facts: ServiceFacts, target: Target, allowed_ports: tuple[AllowedPort, ...], controller: IngressController
) -> Iterator[_Answer]:
    """The ports that Ingresses route to. Without a living controller namespace there is nowhere to put the egress."""
    own = facts.service.key.namespace
    peer = ingress_controller_pods(controller.namespace, controller.pod_selector)
    home = facts.namespaces.get(controller.namespace)
    exposed = frozenset(ingress_backend_ports(facts.service, facts.ingresses))
    for allowed in allowed_ports:
        port = allowed.port
        if allowed.alias or port not in exposed:
            continue
        identity = policy_id(facts.service.key.name, port)
        scope = identity if controller.namespace == own else f"{own}-{identity}"
        ingress_name, egress_name = f"ingress-to-{identity}-{_FROM_CONTROLLER}", f"egress-to-{scope}-{_FROM_CONTROLLER}"
        if failure := _allowed_port_failure(facts.service, allowed, identity):
            yield RefusedPolicy(policy_key(own, ingress_name), failure)
            yield RefusedPolicy(policy_key(controller.namespace, egress_name), failure)
            continue
        permission = target.permission(port, "ingress-backend")
        yield permission.ingress_half(ingress_name, peer)
        if home and not home.terminating:
            yield permission.egress_half(egress_name, peer)


def _assembled(answers: Iterable[_Answer]) -> DesiredPolicies:
    """The answers in order, one a key: the first that claims a name keeps it, and a different second one is refused."""
    policies: dict[ObjectKey, NetworkPolicy] = {}
    refusals: list[RefusedPolicy] = []
    for answer in answers:
        if isinstance(answer, RefusedPolicy):
            refusals.append(answer)
            continue
        holder = policies.setdefault(answer.key, answer)
        if holder is not answer and holder.spec != answer.spec:
            problem = f"the policy that {answer.reason} asks for has the name of the one that {holder.reason} asks for"
            taken = Failure(NETWORK_POLICIES, answer.key, Problem("metadata.name", problem))
            refusals.append(RefusedPolicy(answer.key, taken))
    refusals.sort(key=lambda refusal: refusal.key)
    return DesiredPolicies(tuple([policies[key] for key in sorted(policies)]), tuple(refusals))
