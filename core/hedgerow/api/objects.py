"""What all objects of the project's API groups have in common: their metadata, and the way back to a manifest."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from hedgerow.api.shape import Int64, Items, Time, Typed


class ApiType(Typed):
    """A type whose fields say what they mean; a tool may name them as Python or as JSON does."""

    model_config = ConfigDict(use_attribute_docstrings=True, validate_by_name=True, validate_by_alias=True)

    is_atomic: ClassVar[bool] = False
    """Whether an API server merges such an object as a whole: who applies one of its fields owns them all."""


class ObjectMeta(ApiType):
    """Metadata, as far as tools look at it; the rest is kept as it is."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    finalizers: Items[str] = ()
    generation: Int64 = 0
    resource_version: str = ""
    uid: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None


class ApiObject(ApiType):
    """An object that an API server stores; each type names its own kind."""

    said_by_documents = ("apiVersion", "kind")

    api_version: str
    """Group and version of this object's type, such as resources.gardener.cloud/v1alpha1."""
    kind: str
    """The kind of this object."""
    metadata: ObjectMeta = ObjectMeta()
    # API servers know what metadata is, and refuse a definition that explains it.

    def manifest(self) -> dict[str, Any]:
        """The object as a plain document: what it was given, and nothing that was left to defaults but its kind."""
        given = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"apiVersion": self.api_version, "kind": self.kind, **given}
