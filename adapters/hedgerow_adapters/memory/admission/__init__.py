"""Admission of the in-memory cluster: registered webhooks are asked before anything is stored, as the API server does.

`chain` goes through them in order; which are called, and how, is said by `hedgerow_adapters.dispatch`. `calls` is
what whoever reaches a webhook is told and may answer, `answers` is what the server makes of that.
"""

from hedgerow_adapters.memory.admission.calls import CallFailedError, CallWebhook, WebhookCall, nobody
from hedgerow_adapters.memory.admission.chain import Admission
from hedgerow_adapters.memory.admission.operation import Operation

__all__ = ["Admission", "CallFailedError", "CallWebhook", "Operation", "WebhookCall", "nobody"]
