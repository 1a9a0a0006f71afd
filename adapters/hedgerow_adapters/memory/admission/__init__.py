"""Admission of the in-memory cluster: registered webhooks are called before anything is stored, as the API server does.

`chain` goes through them in the order of `hedgerow_adapters.registrations.dispatch`, `calls` is how webhooks are
reached, and reads what they answer.
"""

from hedgerow_adapters.memory.admission.calls import CallFailedError, CallWebhook, WebhookCall, nobody
from hedgerow_adapters.memory.admission.chain import Admission, Operation

__all__ = ["Admission", "CallFailedError", "CallWebhook", "Operation", "WebhookCall", "nobody"]
