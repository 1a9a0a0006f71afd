"""The kinds of objects that the in-memory API server knows.

One declaration a kind; those with rules of their own have a module each. A further kind is a further line in
`DEFAULT_RESOURCES`.
"""

from typing import Final

from hedgerow.api.kubernetes import CSI_NODES, ENDPOINTS, NODES
from hedgerow_adapters.memory.kinds.autoscalers import AUTOSCALERS, AUTOSCALERS_V1
from hedgerow_adapters.memory.kinds.certificate_requests import CERTIFICATE_REQUESTS
from hedgerow_adapters.memory.kinds.core import CONFIG_MAPS, LEASES, SECRETS, SERVICE_ACCOUNTS
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow_adapters.memory.kinds.events import SERVED_EVENTS, STORED_EVENTS
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.kinds.namespaces import NAMESPACES
from hedgerow_adapters.memory.kinds.networking import INGRESSES, NETWORK_POLICIES
from hedgerow_adapters.memory.kinds.services import ENDPOINT_SLICES, SERVICES
from hedgerow_adapters.memory.kinds.webhook_configurations import (
    MUTATING_CONFIGURATIONS,
    VALIDATING_CONFIGURATIONS,
)
from hedgerow_adapters.memory.kinds.workloads import DAEMON_SETS, DEPLOYMENTS, PODS, STATEFUL_SETS
from hedgerow_adapters.memory.shapes import OTHERS, anything

DEFAULT_RESOURCES: Final = (
    NAMESPACES,
    SERVICES,
    NETWORK_POLICIES,
    INGRESSES,
    CONFIG_MAPS,
    SECRETS,
    LEASES,
    STORED_EVENTS,
    SERVED_EVENTS,
    Kind(NODES, has_status=True),
    Kind(ENDPOINTS, fields={"subsets": anything}),
    SERVICE_ACCOUNTS,
    PODS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    AUTOSCALERS,
    AUTOSCALERS_V1,
    ENDPOINT_SLICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_CONFIGURATIONS,
    VALIDATING_CONFIGURATIONS,
    CERTIFICATE_REQUESTS,
    Kind(
        CSI_NODES,
        fields={"spec": {"drivers": [{OTHERS: anything}]}},
        unconditional_update=False,
    ),
)

__all__ = ["DEFAULT_RESOURCES", "Kind"]
