"""How highly available a Deployment, StatefulSet, HPA or HVPA is made, rule by rule.

Source: webhooks-and-tokens §5, §5.7.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.decision import Allowed, Decision, Denied, forbidden, internal_error
from hedgerow.admission.high_availability.context import (
    HPAS_BY_TARGET,
    HVPAS_BY_TARGET,
    HAContext,
    Target,
    WorkloadFacts,
    ha_context,
    transform_hpa,
    transform_hvpa,
    transform_namespace,
)
from hedgerow.admission.high_availability.replicas import with_raised, with_replicas
from hedgerow.admission.high_availability.workloads import (
    with_default_tolerations,
    with_spread_constraints,
    with_zone_requirement,
)
from hedgerow.admission.request import AdmissionRequest, GroupVersionKind
from hedgerow.admission.webhook import Rule, Webhook, apply_rules, type_problem
from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, NAMESPACES, STATEFUL_SETS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Snapshot

NAME: Final = "high-availability-config"


async def review(request: AdmissionRequest, snapshot: Snapshot, config: HighAvailabilityConfig) -> Decision:
    """The decision about an object, whose Namespace and autoscalers are looked up."""
    key = ObjectKey("", request.namespace)
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

    An object that cannot be read is forbidden.

    Args:
        request: any operation on the object.
        facts: its Namespace and autoscalers.
        config: how long pods stay on a Node in trouble.

    Source: webhooks-and-tokens §5.7; §3.2, raw HA handler.
    """
    try:
        context = ha_context(_target(request), facts, config)
    except UnreadableError as error:
        return internal_error(f'Namespace "{request.namespace}" or its autoscalers: {error}')
    handled = _HANDLED.get(request.kind)
    if handled is None:
        return _not_handled(request.kind)
    resource, rules = handled
    if problem := type_problem(request.object, resource):
        return forbidden(problem)
    try:
        return apply_rules(request.object, rules(context))
    except UnreadableError as error:
        return forbidden(str(error))


def _target(request: AdmissionRequest) -> Target:
    """The object of a request as an autoscaler names it."""
    return Target(request.namespace, request.kind.api_version, request.kind.kind, request.name)


def workload_rules(context: HAContext) -> Sequence[Rule]:
    """The rules for a Deployment or StatefulSet; how it spreads follows from its replicas."""
    return (
        ("replicas", lambda workload: with_replicas(workload, context)),
        ("node-affinity", lambda workload: with_zone_requirement(workload, context)),
        ("topology-spread-constraints", lambda workload: with_spread_constraints(workload, context)),
        ("tolerations", lambda workload: with_default_tolerations(workload, context)),
    )


def autoscaler_rules(context: HAContext, spec: Sequence[str]) -> Sequence[Rule]:
    """The rules for an HPA, or for the one that an HVPA makes, whose limits are at a path."""
    return (
        ("min-replicas", lambda autoscaler: with_raised(autoscaler, context, spec, "minReplicas")),
        ("max-replicas", lambda autoscaler: with_raised(autoscaler, context, spec, "maxReplicas")),
    )


_hpa_rules: Final = partial(autoscaler_rules, spec=("spec",))
_hvpa_rules: Final = partial(autoscaler_rules, spec=("spec", "hpa", "template", "spec"))
_HANDLED: Final[Mapping[GroupVersionKind, tuple[Resource, Callable[[HAContext], Sequence[Rule]]]]] = {
    GroupVersionKind(resource.group, resource.version, resource.kind): (resource, rules)
    for resource, rules in (
        (DEPLOYMENTS, workload_rules),
        (STATEFUL_SETS, workload_rules),
        (HORIZONTAL_POD_AUTOSCALERS, _hpa_rules),
        (HORIZONTAL_POD_AUTOSCALERS._replace(version="v2beta1"), _hpa_rules),
        (HVPAS, _hvpa_rules),
    )
}


def _not_handled(kind: GroupVersionKind) -> Decision:
    """Other versions of what is handled would pass with too few replicas, so they are refused."""
    if any((kind.group, kind.kind) == (other.group, other.kind) for other in _HANDLED):
        return forbidden(f'{kind.group} version "{kind.version}" in request is not supported')
    return Allowed(message=f"unexpected resource: {kind.kind}.{kind.group}".removesuffix("."))


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
