"""Extensions: `extensions.gardener.cloud/v1alpha1`.

Source: controller-registration §2.7.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hedgerow.api.definition import AGE, Column, CustomResource, keyed_by
from hedgerow.api.gardener import EXTENSIONS
from hedgerow.api.resources_v1alpha1 import Condition
from hedgerow.api.shape import ApiObject, ApiType, Int32, Int64, Items, Time


class ExtensionSpec(ApiType):
    """What is asked of an extension controller."""

    type: str
    """Which extension controller is asked."""
    provider_config: Mapping[str, Any] | None = None
    """What it goes by."""


class LastOperation(ApiType):
    """What was done last."""

    description: str
    """What is done, for people."""
    last_update_time: Time
    """When the operation was last told of."""
    progress: Int32
    """How much of it is done, in percent."""
    state: str
    """Processing, Succeeded, Error, Failed, Pending or Aborted."""
    type: str
    """Create, Reconcile, Delete, Migrate or Restore."""


class LastError(ApiType):
    """Why the last operation failed."""

    description: str
    """What went wrong, for people."""
    task_id: str | None = Field(None, alias="taskID")
    """The part of the operation that failed."""
    codes: Items[str] = ()
    """Well-known codes of errors."""
    last_update_time: Time | None = None
    """When it was last told of."""


class CrossVersionObjectReference(ApiType):
    """An object in the same namespace."""

    api_version: str | None = None
    """Group and version of the object."""
    kind: str
    """Kind of the object."""
    name: str
    """Name of the object."""


class NamedResource(ApiType):
    """An object that belongs to the state."""

    name: str
    """By which the state calls it."""
    resource_ref: CrossVersionObjectReference
    """The object."""


class ExtensionStatus(ApiType):
    """What its controller says."""

    observed_generation: Int64 | None = None
    """The generation that was worked on last."""
    last_operation: LastOperation | None = None
    """What was done last."""
    last_error: LastError | None = None
    """Why the last operation failed; absent: it did not."""
    conditions: Annotated[Items[Condition], keyed_by("type")] = ()
    """What several controllers say of it."""
    provider_status: Mapping[str, Any] | None = None
    """What the type of extension knows besides."""
    state: Mapping[str, Any] | None = None
    """What has to move with the Shoot to another seed."""
    resources: Items[NamedResource] = ()
    """Objects that have to move with it."""


class Extension(ApiObject):
    """A part of a Shoot that an extension controller looks after."""

    api_version: Literal["extensions.gardener.cloud/v1alpha1"] = "extensions.gardener.cloud/v1alpha1"
    """Group and version of this object's type: extensions.gardener.cloud/v1alpha1."""
    kind: Literal["Extension"] = "Extension"
    """Kind of this object: Extension."""
    spec: ExtensionSpec
    """What is asked of the extension controller."""
    status: ExtensionStatus = ExtensionStatus()
    """What the extension controller says."""


EXTENSION: Final = CustomResource(
    EXTENSIONS,
    Extension,
    singular="extension",
    short_names=("ext",),
    columns=(
        Column("Type", "string", ".spec.type"),
        Column("Status", "string", ".status.lastOperation.state"),
        AGE,
        Column("Operation", "string", ".status.lastOperation.description", is_wide=True),
        Column("Error", "string", ".status.lastError.description", is_wide=True),
    ),
)
