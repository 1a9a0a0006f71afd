"""In which zones the pods of a workload may run: in those of its Namespace, where that binds its workloads to zones.

Node selector terms are alternatives, so each of them has to ask for the zones. Preferences stay as they are.

Source: webhooks-and-tokens §5.4.
"""

from typing import Any, Final

from hedgerow.admission.high_availability.context import HAContext
from hedgerow.api.kubernetes import ZONE
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import list_at, objects_at, with_each, with_value

_TERMS: Final = (
    *("spec", "template", "spec", "affinity", "nodeAffinity"),
    *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
)


def zone_requirement(context: HAContext) -> dict[str, Any] | None:
    """What the Nodes of a workload have to meet; none if any Node may run it."""
    if not context.zones or (context.failure_tolerance is None and not context.zone_pinning):
        return None
    return {"key": ZONE, "operator": "In", "values": list(context.zones)}


def with_zone_requirement(workload: Manifest, context: HAContext) -> Manifest:
    """The workload each of whose node selector terms asks for the zones, in place of whatever it said about them."""
    requirement = zone_requirement(context)
    if requirement is None:
        return workload
    if not list_at(workload, *_TERMS):
        return with_value(workload, _TERMS, [{"matchExpressions": [requirement]}])
    return with_each(workload, _TERMS, lambda term: _asking_for(term, requirement))


def _asking_for(term: Manifest, requirement: dict[str, Any]) -> Manifest:
    existing = objects_at(term, "matchExpressions")
    wanted = [*(each for each in existing if each.get("key") != ZONE), requirement]
    return term if wanted == existing else with_value(term, ("matchExpressions",), wanted)
