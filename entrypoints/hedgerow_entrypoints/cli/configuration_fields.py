"""The description of every field of a component configuration: type, default, meaning and rules, from its declaration.

The meaning of a field is the text below it in the source, or else that of its section. The source is read only by the
commands that show it.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import pairwise
from typing import Any, Final, get_args, get_origin

from hedgerow.machinery.configuration.reading import Document, head
from hedgerow.machinery.configuration.section import Section, SectionField
from hedgerow.machinery.failures import child
from hedgerow.machinery.scalars import format_duration

_EMPTY: Final[Sequence[object]] = ("", (), {})
_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string", timedelta: "duration"}


@dataclass(frozen=True, slots=True)
class FieldDescription:
    """One field of a configuration file."""

    path: str
    """From the top of the document, with `[]` behind a list; empty: the document itself."""
    type: str
    default: str
    """The value of a field that the file leaves out; empty: none, or one that its meaning tells."""
    meaning: str
    fields: tuple["FieldDescription", ...] = ()
    """Those right below it."""

    def walk(self) -> Iterator["FieldDescription"]:
        """The field and all below it, each before its own."""
        yield self
        for field in self.fields:
            yield from field.walk()


def configuration_fields(kind: type[Document]) -> FieldDescription:
    """The description of a whole document, with everything in it."""
    opening = (FieldDescription(name, "string", "", f"Always `{value}`.") for name, value in head(kind).items())
    return FieldDescription("", "object", "", _summary(kind), (*opening, *_fields(kind(), "")))


def _fields(defaults: Section, path: str) -> Iterator[FieldDescription]:
    """The fields of a section that has its defaults."""
    meanings = _meanings(type(defaults))
    for field in defaults.declared:
        value, at = getattr(defaults, field.attribute), child(path, field.name)
        meaning = meanings.get(field.attribute) or _summary(field.section)
        meaning = " ".join((meaning, *(rule.says for rule in field.rules if rule.says)))
        below = _below(field, value, at)
        has_default = not below and (value not in _EMPTY or not defaults.omits_defaults)
        default = _default(field, value) if has_default else ""
        yield FieldDescription(at, _type(field.value_type), default, meaning, below)
        for alias in field.aliases:
            other, type_ = child(path, alias.name), field.item_type if alias.is_single else field.value_type
            single = " with a single one" if alias.is_single else ""
            meaning = f"{alias.nature} of `{field.name}`{single}; not beside it."
            yield FieldDescription(other, _type(type_), "", meaning, _below(field, value, other))


def _below(field: SectionField, value: Any, path: str) -> tuple[FieldDescription, ...]:
    if field.section is None:
        return ()
    defaults = value if isinstance(value, Section) else field.section()
    return tuple(_fields(defaults, path if field.item_type is field.value_type else f"{path}[]"))


def _type(type_: Any) -> str:
    """The type in the words of people who write YAML."""
    if get_origin(type_) is tuple:
        return f"list of {_type(get_args(type_)[0])}s"
    if get_origin(type_) is Mapping:
        return "map of strings"
    return _SCALARS.get(type_, "object")


def _default(field: SectionField, value: Any) -> str:
    if value is not None:
        return _shown(value)
    when_enabled = field.default_when_enabled
    return "" if when_enabled is None else f"{_shown(when_enabled)} where enabled"


def _shown(value: Any) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return value if isinstance(value, str) and value else json.dumps(value)


def _summary(section: type[Section] | None) -> str:
    return (inspect.getdoc(section) or "").partition("\n\n")[0].replace("\n", " ")


def _meanings(section: type[Section]) -> dict[str, str]:
    """The meanings of the fields of a section, by their attributes; those that it inherits included."""
    texts = map(_texts_below_attributes, reversed(section.__mro__[:-1]))
    return {attribute: text for of_class in texts for attribute, text in of_class.items()}


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
