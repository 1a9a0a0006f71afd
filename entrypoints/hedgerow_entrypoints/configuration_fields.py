"""What every field of a component configuration is: its type, its default, and what it means.

Types and meanings are those of the types that read the file, defaults those that it really gets. What a field means
stands below it in the source, which is read when somebody asks, so that a process in a cluster pays nothing for it.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import pairwise
from types import NoneType
from typing import Annotated, Any, Final, get_args, get_origin

from hedgerow.api.shape import child, read
from hedgerow.resource_manager.configuration import API_VERSION, KIND, manifest
from hedgerow.resource_manager.configuration.decoding import DocumentSection
from hedgerow.resource_manager.configuration.shape import Section

_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string", timedelta: "duration"}
_SWITCH: Final = "enabled"
_HEAD: Final = {"apiVersion": API_VERSION, "kind": KIND}


@dataclass(frozen=True, slots=True)
class FieldDescription:
    """One field of a configuration file."""

    path: str
    """From the top of the document, with `[]` behind what is a list; empty: the document itself."""
    type: str
    default: str
    """What it is where the file leaves it out; empty: nothing, or something that its meaning tells."""
    meaning: str
    fields: tuple["FieldDescription", ...] = ()
    """Those right below it."""

    def walk(self) -> Iterator["FieldDescription"]:
        """The field and all below it, each before its own."""
        yield self
        for field in self.fields:
            yield from field.walk()


def configuration_fields() -> FieldDescription:
    """The whole document, with everything in it."""
    meaning = "The component configuration of `hedgerow run resource-manager`."
    return FieldDescription("", "object", "", meaning, tuple(_fields(DocumentSection, "")))


def _fields(section: type[Section], path: str) -> Iterator[FieldDescription]:
    meanings = _meanings(section)
    for name, field in section.model_fields.items():
        type_, below = _type(field.annotation)
        at = child(path, field.alias or name)
        default = "" if field.is_required() or below else _default(at)
        inner = f"{at}[]" if type_.startswith("list") else at
        yield FieldDescription(at, type_, default, meanings[name], tuple(_fields(below, inner)) if below else ())


def _type(annotation: Any) -> tuple[str, type[Section] | None]:
    """How people call a type, and the section whose fields are below it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if NoneType in arguments:
        return _type(next(each for each in arguments if each is not NoneType))
    if origin is list:
        item, below = _type(arguments[0])
        return f"list of {item}s", below
    if origin is dict:
        return f"map of {_SCALARS[arguments[1]]}s", None
    if issubclass(annotation, Section):
        return "object", annotation
    return _SCALARS[annotation], None


def _default(path: str) -> str:
    """What a field is when it is left out; some have a default only where what they belong to is enabled."""
    holder, _, _ = path.rpartition(".")
    untouched = _at(_untouched(), path)
    if untouched is not None:
        return _shown(untouched)
    enabled = _at(_enabled(), path)
    if enabled is None:
        return ""
    return f"{_shown(enabled)} where enabled" if _at(_untouched(), holder) is not None else _shown(enabled)


@cache
def _untouched() -> Mapping[str, Any]:
    """The configuration of a file that says nothing."""
    return manifest(read(DocumentSection, _HEAD).unwrap().settings())


@cache
def _enabled() -> Mapping[str, Any]:
    """The configuration of a file that says nothing but that everything is enabled, with a cluster of its own."""
    switched = {
        part: {name: {_SWITCH: True} for name, section in _untouched()[part].items() if _SWITCH in _mapping(section)}
        for part in ("controllers", "webhooks")
    }
    document = {**_HEAD, **switched, "targetClientConnection": {}}
    return manifest(read(DocumentSection, document).unwrap().settings())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _at(document: Mapping[str, Any], path: str) -> Any:
    value: Any = document
    for name in path.split("."):
        value = _mapping(value).get(name)
    return value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _meanings(section: type[Section]) -> dict[str, str]:
    """What the fields of a section mean, by their attributes; those that it inherits included."""
    meanings: dict[str, str] = {}
    for class_ in reversed(section.__mro__):
        if issubclass(class_, Section):
            meanings |= _texts_below_attributes(class_)
    return meanings


@cache
def _texts_below_attributes(class_: type) -> Mapping[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(class_))).body
    statements = definition.body if isinstance(definition, ast.ClassDef) else []
    texts: dict[str, str] = {}
    for statement, following in pairwise(statements):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
            case _:
                pass
    return texts
