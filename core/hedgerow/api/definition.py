"""The CustomResourceDefinition of a type: what an API server is told so that it stores and serves its objects."""

from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.objects import ApiObject
from hedgerow.api.structural import structural_schema
from hedgerow.machinery.objects import Manifest, Resource

_STATUS: Final = "status"


@dataclass(frozen=True, slots=True)
class Column:
    """What `kubectl get` shows of each object."""

    name: str
    type: str
    """As OpenAPI calls it; `date` is shown as an age."""
    path: str
    """A JSON path from the top of the object."""

    def manifest(self) -> dict[str, Any]:
        """The column as the definition carries it."""
        return {"name": self.name, "type": self.type, "jsonPath": self.path}


@dataclass(frozen=True, slots=True)
class CustomResource:
    """A resource that the project defines, with its only version."""

    resource: Resource
    type: type[ApiObject]
    """What its objects look like; a field `status` makes a subresource of it."""
    singular: str
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All that kubectl lets people call it by, the full name, which is that of its definition, first."""
        return (str(self.resource), self.resource.plural, self.singular, *self.short_names)


def build_definition(custom: CustomResource) -> Manifest:
    """The definition, complete, as `kubectl apply` takes it."""
    resource = custom.resource
    version: dict[str, Any] = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column.manifest() for column in custom.columns],
    }
    if _STATUS in custom.type.model_fields:
        version["subresources"] = {_STATUS: {}}
    description = " ".join((custom.type.__doc__ or "").split())
    version["schema"] = {"openAPIV3Schema": {"description": description, **structural_schema(custom.type)}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": str(resource)},
        "spec": {
            "group": resource.group,
            "names": {
                "kind": resource.kind,
                "listKind": f"{resource.kind}List",
                "plural": resource.plural,
                "singular": custom.singular,
                "shortNames": list(custom.short_names),
            },
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [version],
        },
    }
