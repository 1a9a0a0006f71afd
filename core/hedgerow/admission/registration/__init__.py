"""The objects that register webhooks with an API server, and which of them could keep the process from running.

`webhooks` says which requests each webhook is called for in which cluster, `configurations` renders what is enabled,
`blocking` finds the webhooks that could block the process.

Source: webhooks-and-tokens §4.
"""

from hedgerow.admission.registration.configurations import build_webhook_configurations, service_name
from hedgerow.admission.registration.webhooks import Mode, registered_webhooks

__all__ = ["Mode", "build_webhook_configurations", "registered_webhooks", "service_name"]
