"""ManagedResources: apply the objects that they deliver, and keep them as desired.

For tools that work with ManagedResources: `decoded_secret` decodes the manifests of a Secret, `build_desired` returns
the desired objects, `scaled_objects` the objects that autoscalers scale, `application` the write that applies one
object. `managed_resource_controller` is the whole controller. `merge` merges a desired object into the live one. The
exported names follow semantic versioning. `hedgerow.resource_manager.builder` builds ManagedResources.
"""

from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.decoding import decoded_secret
from hedgerow.resource_manager.managed_resources.desired import build_desired
from hedgerow.resource_manager.managed_resources.merge.merging import (
    CreateObject,
    Instructions,
    LeaveObject,
    UpdateObject,
    application,
)
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig

__all__ = [
    "CreateObject",
    "Instructions",
    "LeaveObject",
    "ManagedResourceConfig",
    "Scaling",
    "UpdateObject",
    "application",
    "build_desired",
    "decoded_secret",
    "managed_resource_controller",
]
