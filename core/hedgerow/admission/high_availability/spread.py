"""How the pods of a workload spread over Nodes and over zones.

Constraints over other topologies, and those of workloads of a single pod, are nobody's business here.

Source: webhooks-and-tokens §5.5, D-2, D-3.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.high_availability.context import HAContext
from hedgerow.api.kubernetes import HOSTNAME, ZONE
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import integer_at, objects_at, texts_at, with_value

ZONE_TOLERANT: Final = "zone"
_CONSTRAINTS: Final = ("spec", "template", "spec", "topologySpreadConstraints")


def with_spread_constraints(workload: Manifest, context: HAContext) -> Manifest:
    """The workload whose pods spread as its Namespace demands, once it has more than one."""
    replicas = integer_at(workload, "spec", "replicas") or 0
    if replicas <= 1:
        return workload
    existing = objects_at(workload, *_CONSTRAINTS)
    others = [each for each in existing if each.get("topologyKey") not in (HOSTNAME, ZONE)]
    labels = texts_at(workload, "spec", "template", "metadata", "labels")
    wanted = [*others, *spread_constraints(labels, max(replicas, context.scaled_maximum or 0), context)]
    return workload if wanted == existing else with_value(workload, _CONSTRAINTS, wanted)


def spread_constraints(labels: Mapping[str, str], most_replicas: int, context: HAContext) -> list[dict[str, Any]]:
    """The constraints over Nodes, and over zones where these count.

    Args:
        labels: those of the pods, by which pods of the same workload are recognised.
        most_replicas: how many pods there may come to be.
        context: what the Namespace says.
    """
    selector = {"matchLabels": labels} if labels else {}
    constraints: list[dict[str, Any]] = [
        {
            "topologyKey": HOSTNAME,
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule" if context.failure_tolerance else "ScheduleAnyway",
            "labelSelector": selector,
        }
    ]
    zones = len(context.zones)
    if zones > 1 and context.failure_tolerance in (None, ZONE_TOLERANT):
        constraints.append(
            {
                "topologyKey": ZONE,
                "minDomains": min(most_replicas, zones),
                "maxSkew": zone_skew(most_replicas, zones),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
        )
    return constraints


def zone_skew(most_replicas: int, zones: int) -> int:
    """By how many pods zones may differ.

    By two from two pods a zone on: with one, rolling updates can get stuck in Kubernetes before 1.26
    (kubernetes/kubernetes#109364).
    """
    return 2 if most_replicas >= 2 * zones else 1
