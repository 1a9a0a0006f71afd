"""What the API server is told when it asks before it stores: objects are changed, allowed or denied.

One module for each webhook. `review(request, snapshot, config)`, with only those arguments that it needs, ends in a
decision: `Allowed`, `Mutated` or `Denied`. Where it looks something up, `decide(request, facts, config)` below it takes
what was found. `webhook(config)` declares the `Webhook` that drivers run.

Source: webhooks-and-tokens §1 to §9, §11.2.
"""

from hedgerow.admission.decision import Allowed, Decision, Denied, Mutated, Mutation
from hedgerow.admission.request import AdmissionRequest, creation, deletion, update
from hedgerow.admission.webhook import Webhook

__all__ = [
    "AdmissionRequest",
    "Allowed",
    "Decision",
    "Denied",
    "Mutated",
    "Mutation",
    "Webhook",
    "creation",
    "deletion",
    "update",
]
