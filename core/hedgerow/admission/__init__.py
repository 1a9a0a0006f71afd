"""What the API server is told when it asks before it stores: objects are changed, allowed or denied.

One module for each webhook; each decides by a function `(request, facts, config) -> decision` that needs nothing but
its arguments, and offers a `Webhook` that finds the facts in a snapshot. `request` and `decision` are the values on
both sides.

Source: webhooks-and-tokens §1 to §9, §11.2.
"""

from hedgerow.admission.decision import Allowed, Decision, Denied, Mutation
from hedgerow.admission.request import (
    AdmissionRequest,
    GroupVersionKind,
    GroupVersionResource,
    creation,
    deletion,
    update,
)
from hedgerow.admission.webhook import Webhook

__all__ = [
    "AdmissionRequest",
    "Allowed",
    "Decision",
    "Denied",
    "GroupVersionKind",
    "GroupVersionResource",
    "Mutation",
    "Webhook",
    "creation",
    "deletion",
    "update",
]
