"""The CustomResourceDefinition of a type.

Its structural schema has the name, JSON type and meaning of each field, and whether it is required. The server sets no
default, and checks no value beyond what a type states of its fields and in its `validations`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

from hedgerow.api.shape import ApiObject, ApiType, ObjectMeta
from hedgerow.machinery.objects import Manifest, Resource

_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string"}
_STATUS: Final = "status"


def enum(*values: str) -> dict[str, Any]:
    """What the schema of a field says that takes no other values."""
    return {"enum": [str(value) for value in values]}


def keyed_by(field: str) -> dict[str, Any]:
    """What the schema of a list says whose items are told apart by a field: several clients may own some of them."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field]}


def structural_schema(shape: type[ApiType]) -> dict[str, Any]:
    """The schema of the objects of a type, its fields in the order of their declaration.

    Raises:
        TypeError: a field has a type that no schema describes.
    """
    fields = {field.alias or name: field for name, field in shape.model_fields.items()}
    schema: dict[str, Any] = {"type": "object"}
    if required := [name for name, field in fields.items() if field.is_required()]:
        schema["required"] = required
    schema["properties"] = {
        name: _described(_of_type(field.annotation) | _formats(field.metadata), field.description)
        for name, field in fields.items()
    }
    if shape.is_atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    if shape.validations:
        schema["x-kubernetes-validations"] = [validation._asdict() for validation in shape.validations]
    return schema


def _of_type(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _of_type(arguments[0]) | _formats(arguments[1:])
    if origin is Literal:
        return _of_type(type(arguments[0]))
    if NoneType in arguments:
        return _of_type(next(argument for argument in arguments if argument is not NoneType))
    if origin is tuple:
        description = arguments[0].__doc__ if _is_object(arguments[0]) else None
        items = _described(_of_type(arguments[0]), description)
        return {"type": "array", "x-kubernetes-list-type": "atomic", "items": items}
    if origin is Mapping:
        return {"type": "object", **_of_members(arguments[1])}
    return _of_class(annotation)


def _of_members(annotation: Any) -> dict[str, Any]:
    if annotation is Any:
        return {"x-kubernetes-preserve-unknown-fields": True}
    return {"additionalProperties": _of_type(annotation)}


def _of_class(class_: Any) -> dict[str, Any]:
    if class_ in _SCALARS:
        return {"type": _SCALARS[class_]}
    if class_ is ObjectMeta:
        return {"type": "object"}  # API servers refuse a definition that describes it
    if _is_object(class_):
        return structural_schema(class_)
    raise TypeError(f"no schema describes {class_}")


def _is_object(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, ApiType)


def _formats(metadata: Iterable[Any]) -> dict[str, Any]:
    """What the annotations of a field say of its schema: a text is the format, an object part of the schema."""
    schema: dict[str, Any] = {}
    for each in metadata:
        schema |= {"format": each} if isinstance(each, str) else each if isinstance(each, dict) else {}
    return schema


def _described(schema: dict[str, Any], description: str | None) -> dict[str, Any]:
    """The schema with its description, in one line, before all else."""
    return {"description": " ".join(description.split()), **schema} if description else schema


class Column(NamedTuple):
    """What `kubectl get` shows of each object."""

    name: str
    type: str
    """As OpenAPI calls it; `date` is shown as an age."""
    path: str
    """JSONPath, from the top of the object."""
    is_wide: bool = False
    """True if it is shown with `-o wide` alone."""

    def manifest(self) -> dict[str, Any]:
        """The column as definitions spell it."""
        wide = {"priority": 1} if self.is_wide else {}
        return {"name": self.name, "type": self.type, "jsonPath": self.path, **wide}


AGE: Final = Column("Age", "date", ".metadata.creationTimestamp")


def condition_columns(types: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of conditions, by title: the status of each, the age, and with `-o wide` reasons and messages."""

    def column(title: str, field: str, *, suffix: str = "") -> Column:
        path = f'.status.conditions[?(@.type=="{types[title]}")].{field}'
        return Column(f"{title}{suffix}", "string", path, is_wide=bool(suffix))

    wide = (column(title, name.lower(), suffix=f"-{name}") for title in types for name in ("Reason", "Message"))
    return (*(column(title, "status") for title in types), AGE, *wide)


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
