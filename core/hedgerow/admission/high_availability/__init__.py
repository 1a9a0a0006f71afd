"""How highly available Deployments, StatefulSets, HPAs and HVPAs are made, as their Namespace demands.

`webhook` lists the rules and looks up what `context` holds; the rules are in `replicas` and `workloads`.

Source: webhooks-and-tokens §5.
"""

from hedgerow.admission.high_availability.context import WorkloadFacts
from hedgerow.admission.high_availability.webhook import NAME, decide, review, webhook

__all__ = ["NAME", "WorkloadFacts", "decide", "review", "webhook"]
