"""The objects by which webhooks are registered with an API server, and what keeps them to the requests they are for.

`mutating` and `validating` are the tables of all webhooks, `entry` says how one is written and what differs between
clusters, `configurations` puts the enabled ones together. `parsing` reads any registration objects as what stands in
`registered`, and `shape` says what is wrong with them; `blocking` finds those that could block the process.

Source: webhooks-and-tokens §4.
"""

from hedgerow.admission.registration.configurations import build_webhook_configurations, registered_paths
from hedgerow.admission.registration.entry import Mode, Server, service_name

__all__ = ["Mode", "Server", "build_webhook_configurations", "registered_paths", "service_name"]
