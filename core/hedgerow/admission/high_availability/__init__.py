"""How highly available Deployments, StatefulSets, HPAs and HVPAs are made, as their Namespace demands.

`review` looks up what `decide` decides from; `context` holds that, and each rule has a module: `replicas`, `affinity`,
`spread`, `tolerations`.

Source: webhooks-and-tokens §5.
"""

from hedgerow.admission.high_availability.affinity import zone_requirement
from hedgerow.admission.high_availability.context import HAContext, WorkloadFacts, ha_context
from hedgerow.admission.high_availability.replicas import desired_replicas
from hedgerow.admission.high_availability.spread import spread_constraints
from hedgerow.admission.high_availability.tolerations import default_tolerations
from hedgerow.admission.high_availability.webhook import NAME, decide, review, webhook

__all__ = [
    "NAME",
    "HAContext",
    "WorkloadFacts",
    "decide",
    "default_tolerations",
    "desired_replicas",
    "ha_context",
    "review",
    "spread_constraints",
    "webhook",
    "zone_requirement",
]
