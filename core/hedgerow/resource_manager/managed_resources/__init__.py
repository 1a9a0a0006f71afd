"""What ManagedResources ask for, and how it is kept so.

For tools that work with ManagedResources: `decoded_secret` says what a Secret holds, `build_desired` which objects come
of it, `scaled_objects` what autoscalers have a say in, `application` what to write so that one object is applied, and
`managed_resource_controller` does all of it. In `merge` is what a live object becomes, in `builder` how objects are
handed over. What stands here follows semantic versioning.

Each name is imported when it is first asked for: who only produces ManagedResources decodes none.
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
    from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, MergeFailure
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
    "MergeFailure",
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
    "merge.merging": (
        "Instructions",
        "MergeFailure",
    ),
    "ordering": ("in_install_order",),
}
_MODULE_OF: Final = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """What a module below exports under a name."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
