"""The JSON schema of a component configuration, for the values of its chart.

States types and which spellings exclude each other. Rules about values are left to `decode`: many of them hold only in
sections that are enabled.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias, get_args, get_origin

from hedgerow.machinery.configuration.reading import Document, head
from hedgerow.machinery.configuration.section import Section

Schema: TypeAlias = dict[str, Any]
_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string", timedelta: "string"}


def document_schema(kind: type[Document]) -> Schema:
    """The schema of a whole configuration file."""
    opening = {name: {"const": value} for name, value in head(kind).items()}
    schema = _object(kind)
    return {**schema, "required": [*opening], "properties": {**opening, **schema["properties"]}}


def nullable(schema: Schema) -> Schema:
    """The schema of a value that may be null, which stands for a field that is left out."""
    return {**schema, "type": [schema["type"], "null"]}


def _object(section: type[Section]) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(_properties(section))}
    if section.is_strict:
        schema["additionalProperties"] = False
    spellings = [(field.name, alias.name) for field in section.declared for alias in field.aliases]
    return {**schema, "allOf": [_not_both(*names) for names in spellings]} if spellings else schema


def _properties(section: type[Section]) -> Iterator[tuple[str, Schema]]:
    for field in section.declared:
        yield field.name, nullable(_of_type(field.value_type))
        for alias in field.aliases:
            yield alias.name, nullable(_of_type(field.item_type if alias.is_single else field.value_type))


def _of_type(type_: Any) -> Schema:
    if isinstance(type_, type) and issubclass(type_, Section):
        return _object(type_)
    if get_origin(type_) is tuple:
        return {"type": "array", "items": _of_type(get_args(type_)[0])}
    if get_origin(type_) is Mapping:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    return {"type": _SCALARS[type_]}


def _not_both(*spellings: str) -> Schema:
    stated = {"not": {"type": "null"}}
    return {"not": {"type": "object", "required": [*spellings], "properties": dict.fromkeys(spellings, stated)}}
