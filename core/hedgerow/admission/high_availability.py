"""How highly available Deployments, StatefulSets, HPAs and HVPAs are made, as their Namespace demands.

An autoscaler that does not say completely what it scales, scales nothing. The rules are in `availability_rules`.

Source: webhooks-and-tokens §5.1, §5.2, §5.7, §5.8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.admission.availability_rules import (
    HAContext,
    with_default_tolerations,
    with_raised,
    with_replicas,
    with_spread_constraints,
    with_zone_requirement,
)
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.request import AdmissionRequest, GroupVersionKind
from hedgerow.admission.webhook import (
    Allowed,
    Decision,
    Denied,
    Webhook,
    apply_rules,
    forbidden,
    internal_error,
    type_problem,
)
from hedgerow.api.gardener import FAILURE_TOLERANCE_TYPE, HVPAS, ZONE_PINNING, ZONES
from hedgerow.api.kubernetes import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, NAMESPACES, STATEFUL_SETS, namespace_key
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, integer_at, keeping, object_at, text_at
from hedgerow.machinery.scalars import parse_bool
from hedgerow.machinery.snapshot import Index, Snapshot

NAME: Final = "high-availability-config"
_HPA_OF_HVPA: Final = ("spec", "hpa", "template", "spec")


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """The Namespace and the autoscalers of a workload."""

    namespace: Manifest
    hpas: Sequence[Manifest] = ()
    """HPAs of version v2; those of other namespaces and of other targets do not count. So it is with HVPAs."""
    hvpas: Sequence[Manifest] = ()


class Target(NamedTuple):
    """What an autoscaler scales."""

    namespace: str
    api_version: str
    kind: str
    name: str


async def review(request: AdmissionRequest, snapshot: Snapshot, config: HighAvailabilityConfig) -> Decision:
    """The decision about an object, whose Namespace and autoscalers are looked up."""
    key = namespace_key(request.namespace)
    namespace = snapshot.get(NAMESPACES, key) or await _live_namespace(key)
    if isinstance(namespace, Denied):
        return namespace
    target = _target(request)
    hpas, hvpas = snapshot.by_index(HPAS_BY_TARGET, target), snapshot.by_index(HVPAS_BY_TARGET, target)
    return decide(request, WorkloadFacts(namespace, hpas, hvpas), config)


async def _live_namespace(key: ObjectKey) -> Manifest | Denied:
    """The Namespace, which may be too new for the cache."""
    if key.name:
        answer = await ObjectQuestion(NAMESPACES, key, Cluster.TARGET)
        if isinstance(answer, Found):
            return answer.objects[0]
        if not answer.is_not_found:
            return internal_error(answer.message)
    return internal_error(f'Namespace "{key.name}" not found')


def decide(request: AdmissionRequest, facts: WorkloadFacts, config: HighAvailabilityConfig) -> Decision:
    """Make an object as highly available as its Namespace demands; objects of other kinds pass.

    An object that cannot be read is forbidden (§3.2, raw HA handler).
    """
    try:
        context = _context(_target(request), facts, config)
    except UnreadableError as error:
        return internal_error(f'Namespace "{request.namespace}" or its autoscalers: {error}')
    handled = _HANDLED.get(request.kind)
    if handled is None:
        return _not_handled(request.kind)
    resource, rules = handled
    if problem := type_problem(request.object, resource):
        return forbidden(problem)
    try:
        return apply_rules(request.object, [(name, partial(rule, context)) for name, rule in rules])
    except UnreadableError as error:
        return forbidden(str(error))


def _target(request: AdmissionRequest) -> Target:
    return Target(request.namespace, request.kind.api_version, request.kind.kind, request.name)


def _context(target: Target, facts: WorkloadFacts, config: HighAvailabilityConfig) -> HAContext:
    failure_tolerance, zones, zone_pinning = (
        text_at(facts.namespace, "metadata", "annotations", name)
        for name in (FAILURE_TOLERANCE_TYPE, ZONES, ZONE_PINNING)
    )
    return HAContext(
        failure_tolerance,
        tuple(sorted({name for part in (zones or "").split(",") if (name := part.strip())})),
        parse_bool(zone_pinning or "").value_or(default_value=False),
        scaled_maximum(target, facts.hpas, facts.hvpas),
        config,
    )


def scaled_maximum(target: Target, hpas: Sequence[Manifest], hvpas: Sequence[Manifest]) -> int | None:
    """The most replicas that the autoscaler of a target gives it, 0 if it does not say; none if nothing scales it.

    HPAs come before HVPAs, and among several of one kind the first by name decides.

    Raises:
        UnreadableError: the maximum is no integer.
    """
    for autoscalers, targets_of, spec in ((hpas, hpa_targets, ("spec",)), (hvpas, hvpa_targets, _HPA_OF_HVPA)):
        scaling = [each for each in autoscalers if target in targets_of(each)]
        if scaling:
            return integer_at(min(scaling, key=key_of), *spec, "maxReplicas") or 0
    return None


def hpa_targets(hpa: Manifest) -> tuple[Target, ...]:
    """What an HPA scales."""
    try:
        return _targets(hpa, object_at(hpa, "spec", "scaleTargetRef"))
    except UnreadableError:
        return ()


def hvpa_targets(hvpa: Manifest) -> tuple[Target, ...]:
    """What an HVPA scales horizontally, which it does only if it deploys an HPA."""
    try:
        deploys = object_at(hvpa, "spec", "hpa").get("deploy") is True
        return _targets(hvpa, object_at(hvpa, "spec", "targetRef")) if deploys else ()
    except UnreadableError:
        return ()


def _targets(autoscaler: Manifest, reference: Mapping[str, Any]) -> tuple[Target, ...]:
    api_version, kind, name = (reference.get(field) for field in ("apiVersion", "kind", "name"))
    if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(name, str)):
        return ()
    return (Target(key_of(autoscaler).namespace, api_version, kind, name),)


_HARule: TypeAlias = Callable[[HAContext, Manifest], Manifest | Denied]
_OF_WORKLOADS: Final[Sequence[tuple[str, _HARule]]] = (
    ("replicas", with_replicas),
    # How a workload spreads follows from its replicas.
    ("node-affinity", with_zone_requirement),
    ("topology-spread-constraints", with_spread_constraints),
    ("tolerations", with_default_tolerations),
)
_OF_HPAS, _OF_HVPAS = (
    (
        ("min-replicas", partial(with_raised, spec, "minReplicas")),
        ("max-replicas", partial(with_raised, spec, "maxReplicas")),
    )
    for spec in (("spec",), _HPA_OF_HVPA)
)
_HANDLED: Final[Mapping[GroupVersionKind, tuple[Resource, Sequence[tuple[str, _HARule]]]]] = {
    GroupVersionKind(resource.group, resource.version, resource.kind): (resource, rules)
    for resource, rules in (
        (DEPLOYMENTS, _OF_WORKLOADS),
        (STATEFUL_SETS, _OF_WORKLOADS),
        (HORIZONTAL_POD_AUTOSCALERS, _OF_HPAS),
        (HORIZONTAL_POD_AUTOSCALERS._replace(version="v2beta1"), _OF_HPAS),
        (HVPAS, _OF_HVPAS),
    )
}


def _not_handled(kind: GroupVersionKind) -> Decision:
    """Other versions of what is handled would pass with too few replicas, so they are refused."""
    if any((kind.group, kind.kind) == (other.group, other.kind) for other in _HANDLED):
        return forbidden(f'{kind.group} version "{kind.version}" in request is not supported')
    return Allowed(message=f"unexpected resource: {kind.kind}.{kind.group}".removesuffix("."))


HPAS_BY_TARGET: Final = Index("HPAs by target", HORIZONTAL_POD_AUTOSCALERS, hpa_targets)
HVPAS_BY_TARGET: Final = Index("HVPAs by target", HVPAS, hvpa_targets)


transform_namespace: Final = keeping("metadata.name", annotations=(FAILURE_TOLERANCE_TYPE, ZONES, ZONE_PINNING))
_KEY: Final = ("metadata.namespace", "metadata.name")
transform_hpa: Final = keeping(*_KEY, "spec.scaleTargetRef", "spec.maxReplicas")
transform_hvpa: Final = keeping(*_KEY, "spec.targetRef", "spec.hpa.deploy", "spec.hpa.template.spec.maxReplicas")


def webhook(config: HighAvailabilityConfig) -> Webhook:
    """The webhook, which looks up Namespaces and autoscalers."""
    return Webhook(
        name=NAME,
        path="/webhooks/high-availability-config",
        review=lambda request, snapshot: review(request, snapshot, config),
        reads=(
            Read(NAMESPACES, transform_namespace, metadata_only=True),
            Read(HORIZONTAL_POD_AUTOSCALERS, transform_hpa),
            Read(HVPAS, transform_hvpa, may_be_absent=True),
        ),
        indexes=(HPAS_BY_TARGET, HVPAS_BY_TARGET),
        permissions=(Permission.of(NAMESPACES, "get"),),
    )
