"""The kinds of objects that the in-memory API server knows: one declaration a kind, in the module of its API group."""

from typing import Final

from hedgerow.api.kubernetes import CSI_NODES, ENDPOINTS, NODES
from hedgerow_adapters.memory.kinds import (
    certificate_requests,
    core,
    custom_resources,
    namespaces,
    networking,
    services,
    webhook_configurations,
    workloads,
)
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.shapes import OTHERS, anything

DEFAULT_RESOURCES: Final = (
    namespaces.NAMESPACES,
    *services.KINDS,
    *networking.KINDS,
    *core.KINDS,
    Kind(NODES, has_status=True),
    Kind(ENDPOINTS, fields={"subsets": anything}),
    *workloads.KINDS,
    custom_resources.CUSTOM_RESOURCE_DEFINITIONS,
    *webhook_configurations.KINDS,
    certificate_requests.CERTIFICATE_REQUESTS,
    Kind(CSI_NODES, fields={"spec": {"drivers": [{OTHERS: anything}]}}, unconditional_update=False),
)

__all__ = ["DEFAULT_RESOURCES", "Kind"]
