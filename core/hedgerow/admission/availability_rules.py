"""How many replicas a workload has, where its pods run, and how many replicas an autoscaler gives it at least.

Without the label for the type of component the replicas stay. An annotation may state the number. What is scaled to
zero stays there.

Source: webhooks-and-tokens §5.3 to §5.6, D-2, D-3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure

from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.webhook import Denied, forbidden
from hedgerow.api.gardener import HIGH_AVAILABILITY_REPLICAS, HIGH_AVAILABILITY_TYPE
from hedgerow.api.kubernetes import HOSTNAME, NOT_READY, UNREACHABLE, ZONE
from hedgerow.machinery.failures import annotation_path, invalid
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import integer_at, list_at, objects_at, text_at, texts_at, with_each, with_value
from hedgerow.machinery.scalars import parse_int

NO_EXECUTE: Final = "NoExecute"
_POD: Final = ("spec", "template", "spec")
_TERMS: Final = (
    *(*_POD, "affinity", "nodeAffinity"),
    *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
)
_CONSTRAINTS: Final = (*_POD, "topologySpreadConstraints")
_TOLERATIONS: Final = (*_POD, "tolerations")


@dataclass(frozen=True, slots=True)
class HAContext:
    """All that the rules look at beside the object."""

    failure_tolerance: str | None = None
    """None where the Namespace does not say; empty where it asks for none, which is not the same."""
    zones: tuple[str, ...] = ()
    """Sorted, each once."""
    zone_pinning: bool = False
    scaled_maximum: int | None = None
    """The most replicas that an autoscaler gives the workload; none: nothing scales it."""
    config: HighAvailabilityConfig = HighAvailabilityConfig()  # noqa: RUF009 -- immutable


def _desired_replicas(manifest: Manifest, current: int | None, failure_tolerance: str | None) -> int | Denied | None:
    """How many replicas an object with `current` replicas, or at least so many, needs; none: nothing is decided."""
    if not current:
        return None
    component = text_at(manifest, "metadata", "labels", HIGH_AVAILABILITY_TYPE)
    if not component:
        return None
    if stated := text_at(manifest, "metadata", "annotations", HIGH_AVAILABILITY_REPLICAS):
        # Taken literally, even below one.
        number = parse_int(stated, bits=32)
        if isinstance(number, Failure):
            return forbidden(str(invalid(annotation_path(HIGH_AVAILABILITY_REPLICAS), stated, number.failure())))
        return number.unwrap()
    return 1 if component == "controller" and failure_tolerance == "" else 2


def with_replicas(context: HAContext, workload: Manifest) -> Manifest | Denied:
    """The workload with the replicas that it needs; an autoscaler may have given it more."""
    current = integer_at(workload, "spec", "replicas")
    desired = _desired_replicas(workload, current, context.failure_tolerance)
    if current is None or desired is None or desired == current:
        return workload
    if isinstance(desired, Denied):
        return desired
    if context.scaled_maximum is not None and current > desired:
        return workload
    return with_value(workload, ("spec", "replicas"), desired)


def with_raised(spec: Sequence[str], field: str, context: HAContext, autoscaler: Manifest) -> Manifest | Denied:
    """The HPA or HVPA whose limit, `minReplicas` or `maxReplicas` below `spec`, is at least what its objects need."""
    minimum = integer_at(autoscaler, *spec, "minReplicas")
    desired = _desired_replicas(autoscaler, minimum, context.failure_tolerance)
    if isinstance(desired, Denied):
        return desired
    if desired is None or (integer_at(autoscaler, *spec, field) or 0) >= desired:
        return autoscaler
    return with_value(autoscaler, (*spec, field), desired)


def with_zone_requirement(context: HAContext, workload: Manifest) -> Manifest:
    """The workload whose pods run in the zones of its Namespace, where that binds its workloads to zones.

    Node selector terms are alternatives, so each of them requires the zones, instead of what it required of zones
    before. Preferences stay as they are (§5.4).
    """
    if not context.zones or (context.failure_tolerance is None and not context.zone_pinning):
        return workload
    requirement = {"key": ZONE, "operator": "In", "values": list(context.zones)}
    if not list_at(workload, *_TERMS):
        return with_value(workload, _TERMS, [{"matchExpressions": [requirement]}])

    def requiring_zones(term: Manifest) -> Manifest:
        existing = objects_at(term, "matchExpressions")
        wanted = [*(each for each in existing if each.get("key") != ZONE), requirement]
        return term if wanted == existing else with_value(term, ("matchExpressions",), wanted)

    return with_each(workload, _TERMS, requiring_zones)


def with_spread_constraints(context: HAContext, workload: Manifest) -> Manifest:
    """The workload whose pods spread over Nodes and zones, once it has more than one; other constraints stay (§5.5)."""
    replicas = integer_at(workload, "spec", "replicas") or 0
    if replicas <= 1:
        return workload
    existing = objects_at(workload, *_CONSTRAINTS)
    labels = texts_at(workload, "spec", "template", "metadata", "labels")
    selector = {"matchLabels": labels} if labels else {}
    unsatisfiable = "DoNotSchedule" if context.failure_tolerance else "ScheduleAnyway"
    wanted = [
        *(each for each in existing if each.get("topologyKey") not in (HOSTNAME, ZONE)),
        {"topologyKey": HOSTNAME, "maxSkew": 1, "whenUnsatisfiable": unsatisfiable, "labelSelector": selector},
    ]
    most, zones = max(replicas, context.scaled_maximum or 0), len(context.zones)
    if zones > 1 and context.failure_tolerance in (None, "zone"):
        wanted.append(
            {
                "topologyKey": ZONE,
                "minDomains": min(most, zones),
                # With a skew of one, rolling updates can get stuck in Kubernetes before 1.26
                # (kubernetes/kubernetes#109364).
                "maxSkew": 2 if most >= 2 * zones else 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
        )
    return workload if wanted == existing else with_value(workload, _CONSTRAINTS, wanted)


def with_default_tolerations(context: HAContext, workload: Manifest) -> Manifest:
    """The workload whose pods stay for the configured time on a Node that is not ready or not reachable (§5.6).

    A toleration of the workload itself wins. One without a key tolerates no taint in particular, so it does not count.
    """
    existing, config = objects_at(workload, *_TOLERATIONS), context.config
    missing: list[dict[str, Any]] = [
        {"key": taint, "operator": "Exists", "effect": NO_EXECUTE, "tolerationSeconds": seconds}
        for taint, seconds in ((NOT_READY, config.not_ready_seconds), (UNREACHABLE, config.unreachable_seconds))
        if seconds is not None and not any(_tolerates(each, taint) for each in existing)
    ]
    return with_value(workload, _TOLERATIONS, [*list_at(workload, *_TOLERATIONS), *missing]) if missing else workload


def _tolerates(toleration: Manifest, taint: str) -> bool:
    """True if a toleration names a taint that evicts, whatever else it says."""
    return toleration.get("key") == taint and (toleration.get("effect") or NO_EXECUTE) == NO_EXECUTE
