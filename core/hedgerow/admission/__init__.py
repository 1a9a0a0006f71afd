"""What webhooks answer an API server: an object is changed, allowed or denied.

Each webhook declares itself as a `Webhook`, which drivers run: its `review(request, snapshot)` ends in `Allowed`,
`Mutated` or `Denied`. Where a review looks something up, a function `decide(request, facts, config)` takes what was
found. `defaulters` are the six webhooks that look nothing up; each other one has a module or package.

Source: webhooks-and-tokens §1 to §9, §11.2.
"""

from hedgerow.admission.request import AdmissionRequest, creation, deletion, update
from hedgerow.admission.webhook import Allowed, Decision, Denied, Mutated, Mutation, Webhook

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
