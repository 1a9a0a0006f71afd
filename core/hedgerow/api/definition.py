"""The CustomResourceDefinition of a type: what an API server is told so that it stores and serves its objects.

Its structural schema says of each field its name, its JSON type, what it means, and whether it has to be there. Nothing
is defaulted by the server and no value is checked by it: those are the controllers' concern.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from hedgerow.api.shape import ApiObject, ApiType, Format, ObjectMeta
from hedgerow.machinery.objects import Manifest, Resource

_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string"}
_STATUS: Final = "status"


def structural_schema(shape: type[ApiType]) -> dict[str, Any]:
    """The schema of the objects of a type, its fields in the order of their declaration.

    Raises:
        TypeError: a field has a type that no schema can tell.
    """
    fields = {field.alias or name: field for name, field in shape.model_fields.items()}
    schema: dict[str, Any] = {"type": "object"}
    if required := [name for name, field in fields.items() if field.is_required()]:
        schema["required"] = required
    schema["properties"] = {name: _described(_of_field(field), field.description) for name, field in fields.items()}
    if shape.is_atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _of_field(field: FieldInfo) -> dict[str, Any]:
    return _of_type(field.annotation) | _formats(field.metadata)


def _of_type(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _of_type(arguments[0]) | _formats(arguments[1:])
    if origin is Literal:
        return _of_type(type(arguments[0]))
    if NoneType in arguments:
        (present,) = (each for each in arguments if each is not NoneType)
        return _of_type(present)
    if isinstance(annotation, type) and origin is None:
        return _of_class(annotation)
    return _of_container(annotation)


def _of_class(class_: type) -> dict[str, Any]:
    if class_ in _SCALARS:
        return {"type": _SCALARS[class_]}
    if class_ is ObjectMeta:
        return {"type": "object"}  # API servers let nobody say more of it
    if issubclass(class_, ApiType):
        return structural_schema(class_)
    raise TypeError(f"no schema can tell of {class_}")


def _of_container(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return {"type": "array", "x-kubernetes-list-type": "atomic", "items": _of_item(arguments[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of_type(arguments[1])}
    raise TypeError(f"no schema can tell of {annotation}")


def _of_item(annotation: Any) -> dict[str, Any]:
    """The schema of what a list holds; objects are described by their type."""
    is_object = isinstance(annotation, type) and issubclass(annotation, ApiType)
    return _described(_of_type(annotation), annotation.__doc__ if is_object else None)


def _formats(metadata: Iterable[Any]) -> dict[str, str]:
    named = next((each.name for each in metadata if isinstance(each, Format)), None)
    return {"format": named} if named else {}


def _described(schema: dict[str, Any], description: str | None) -> dict[str, Any]:
    """The schema with its description, in one line, before all else."""
    return {"description": " ".join(description.split()), **schema} if description else schema


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
