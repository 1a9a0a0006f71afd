"""ManagedResources: `resources.gardener.cloud/v1alpha1`.

Source: managed-resources §2.
"""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from hedgerow.api.definition import Column, CustomResource, condition_columns
from hedgerow.api.managed_resources import (
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.api.shape import ApiObject, ApiType, Int64, Items, Time


class SecretReference(ApiType):
    """A Secret in the namespace of the ManagedResource."""

    name: str
    """Name of the Secret."""


class GroupKind(ApiType):
    """A kind of objects, in whichever version."""

    group: str
    """API group of the kind; the core group is the empty one."""
    kind: str
    """Name of the kind."""


class ManagedResourceSpec(ApiType):
    """What is to be applied, and how."""

    class_: str = Field("", alias="class")
    """Which instance of the resource manager is responsible; absent: that of the class "resources"."""
    secret_refs: Items[SecretReference]
    """The Secrets whose values hold the manifests of all objects; they may be none."""
    inject_labels: Mapping[str, str] = Field(default_factory=dict)
    """Labels that every object gets, and the pods that it makes."""
    force_overwrite_labels: bool = False
    """Whether labels are removed from objects that are not in their manifests."""
    force_overwrite_annotations: bool = False
    """Whether annotations are removed from objects that are not in their manifests."""
    keep_objects: bool = False
    """Whether the objects stay when the ManagedResource is deleted."""
    equivalences: Items[Items[GroupKind]] = ()
    """Sets of kinds that are served as the same objects, so that an object whose manifest moves from one kind of a set
    to another is not deleted."""
    delete_persistent_volume_claims: bool = False
    """Whether the PersistentVolumeClaims of a StatefulSet are deleted with it."""


class Condition(ApiType):
    """One aspect of the state of an object, and since when it is so."""

    type: str
    """Type of the condition, such as ResourcesApplied."""
    status: str
    """Status of the condition: True, False, Unknown or Progressing."""
    last_transition_time: Time
    """When the status last changed."""
    last_update_time: Time
    """When reason or message last changed."""
    reason: str
    """Why the condition has its status, in one word that stays the same."""
    message: str
    """Why the condition has its status, for people."""
    codes: Items[str] = ()
    """Well-known codes of errors, where the status is due to some."""


class ObjectReference(ApiType):
    """An object that the ManagedResource has brought about."""

    is_atomic = True

    api_version: str = ""
    """Group and version of the object."""
    kind: str = ""
    """Kind of the object."""
    name: str = ""
    """Name of the object."""
    namespace: str = ""
    """Namespace of the object; a cluster-scoped one has none."""
    uid: str = ""
    """Never set."""
    resource_version: str = ""
    """Never set."""
    field_path: str = ""
    """Never set."""
    labels: Mapping[str, str] = Field(default_factory=dict)
    """The labels that the object's manifest had when it was last applied."""
    annotations: Mapping[str, str] = Field(default_factory=dict)
    """The annotations that the object's manifest had when it was last applied."""


class ManagedResourceStatus(ApiType):
    """What has been applied, and how the objects are."""

    conditions: Items[Condition] = ()
    """Whether the objects are applied, healthy, and rolled out."""
    observed_generation: Int64 = 0
    """The generation whose reconciliation was completed last."""
    resources: Items[ObjectReference] = ()
    """The objects that have been applied, in a fixed order."""
    secrets_data_checksum: str = ""
    """Checksum of everything in the Secrets that was applied."""


class ManagedResource(ApiObject):
    """A bundle of objects that is kept applied: their manifests stand in Secrets that the ManagedResource refers to."""

    api_version: Literal["resources.gardener.cloud/v1alpha1"] = "resources.gardener.cloud/v1alpha1"
    """Group and version of this object's type: resources.gardener.cloud/v1alpha1."""
    kind: Literal["ManagedResource"] = "ManagedResource"
    """Kind of this object: ManagedResource."""
    spec: ManagedResourceSpec = ManagedResourceSpec(secret_refs=())
    """What is to be applied, and how."""
    status: ManagedResourceStatus = ManagedResourceStatus()
    """What has been applied, and how the objects are. Written by the resource manager."""


MANAGED_RESOURCE: Final = CustomResource(
    MANAGED_RESOURCES,
    ManagedResource,
    singular="managedresource",
    short_names=("mr",),
    columns=(
        Column("Class", "string", ".spec.class"),
        *condition_columns(
            {"Applied": RESOURCES_APPLIED, "Healthy": RESOURCES_HEALTHY, "Progressing": RESOURCES_PROGRESSING}
        ),
    ),
)
