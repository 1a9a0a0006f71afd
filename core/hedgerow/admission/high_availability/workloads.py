"""Where the pods of a Deployment or StatefulSet run: zones, spread, and how long they stay on a Node in trouble.

Source: webhooks-and-tokens §5.4, §5.5, §5.6, D-2, D-3.
"""

from typing import Any, Final

from hedgerow.admission.high_availability.context import HAContext
from hedgerow.api.kubernetes import HOSTNAME, NOT_READY, UNREACHABLE, ZONE
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import integer_at, list_at, objects_at, texts_at, with_each, with_value

NO_EXECUTE: Final = "NoExecute"
_POD: Final = ("spec", "template", "spec")
_TERMS: Final = (
    *(*_POD, "affinity", "nodeAffinity"),
    *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
)
_CONSTRAINTS: Final = (*_POD, "topologySpreadConstraints")
_TOLERATIONS: Final = (*_POD, "tolerations")


def with_zone_requirement(workload: Manifest, context: HAContext) -> Manifest:
    """The workload whose pods run in the zones of its Namespace, where that binds its workloads to zones.

    Node selector terms are alternatives, so each of them requires the zones, instead of what it required of zones
    before. Preferences stay as they are.

    Source: webhooks-and-tokens §5.4.
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


def with_spread_constraints(workload: Manifest, context: HAContext) -> Manifest:
    """The workload whose pods spread over Nodes and zones, once it has more than one.

    Constraints over other topologies stay.

    Source: webhooks-and-tokens §5.5.
    """
    replicas = integer_at(workload, "spec", "replicas") or 0
    if replicas <= 1:
        return workload
    existing = objects_at(workload, *_CONSTRAINTS)
    labels = texts_at(workload, "spec", "template", "metadata", "labels")
    selector = {"matchLabels": labels} if labels else {}
    wanted = [
        *(each for each in existing if each.get("topologyKey") not in (HOSTNAME, ZONE)),
        {
            "topologyKey": HOSTNAME,
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule" if context.failure_tolerance else "ScheduleAnyway",
            "labelSelector": selector,
        },
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


def with_default_tolerations(workload: Manifest, context: HAContext) -> Manifest:
    """The workload whose pods stay for the configured time on a Node that is not ready or not reachable.

    A toleration of the workload itself wins. One without a key tolerates no taint in particular, so it does not count.

    Source: webhooks-and-tokens §5.6.
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
