"""ManagedResources: apply the objects that they deliver, and keep them as desired.

For tools that work with ManagedResources: `decoded_secret` decodes the manifests of a Secret, `build_desired` returns
the desired objects, `scaled_objects` the objects that autoscalers scale, `application` the write that applies one
object. `managed_resource_controller` is the whole controller. `merge` merges a desired object into the live one;
`builder` builds ManagedResources. The exported names follow semantic versioning.

Each name is imported on first use, so that a tool that only builds ManagedResources does not load the decoder.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects, Scaling, scaled_objects
    from hedgerow.resource_manager.managed_resources.checksums import Checksum
    from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
    from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
    from hedgerow.resource_manager.managed_resources.decoding import DecodedValue, Decompress, decoded_secret
    from hedgerow.resource_manager.managed_resources.desired import (
        Desired,
        DesiredObject,
        build_desired,
        checked_values,
        injected_labels,
        unknown_kinds,
    )
    from hedgerow.resource_manager.managed_resources.merge.application import (
        Application,
        CreateObject,
        LeaveObject,
        UpdateObject,
        application,
    )
    from hedgerow.resource_manager.managed_resources.merge.merging import Instructions
    from hedgerow.resource_manager.managed_resources.ordering import in_install_order

__all__ = [
    "Application",
    "Checksum",
    "CreateObject",
    "DecodedValue",
    "Decompress",
    "Desired",
    "DesiredObject",
    "Instructions",
    "LeaveObject",
    "ManagedResourceConfig",
    "ScaledObjects",
    "Scaling",
    "UpdateObject",
    "application",
    "build_desired",
    "checked_values",
    "decoded_secret",
    "in_install_order",
    "injected_labels",
    "managed_resource_controller",
    "scaled_objects",
    "unknown_kinds",
]

_NAMES_OF: Final = {
    "autoscalers": (
        "ScaledObjects",
        "Scaling",
        "scaled_objects",
    ),
    "checksums": ("Checksum",),
    "config": ("ManagedResourceConfig",),
    "controller": ("managed_resource_controller",),
    "decoding": (
        "DecodedValue",
        "Decompress",
        "decoded_secret",
    ),
    "desired": (
        "Desired",
        "DesiredObject",
        "build_desired",
        "checked_values",
        "injected_labels",
        "unknown_kinds",
    ),
    "merge.application": (
        "Application",
        "CreateObject",
        "LeaveObject",
        "UpdateObject",
        "application",
    ),
    "merge.merging": ("Instructions",),
    "ordering": ("in_install_order",),
}
_MODULE_OF: Final = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """What a module below exports under a name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
