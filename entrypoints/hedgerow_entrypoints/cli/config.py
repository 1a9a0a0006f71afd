"""`hedgerow config`: checks component configuration files, and describes every field: type, default, meaning and rules.

The meaning of a field is the text below it in the source of its section, or else that of its own section. The source is
read only by the commands that show it.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import pairwise
from typing import Any, Final, get_args, get_origin

import click

from hedgerow.machinery.configuration.reading import Document, head
from hedgerow.machinery.configuration.section import Purpose, Section, SectionField
from hedgerow.machinery.failures import child, perhaps
from hedgerow.machinery.scalars import format_duration
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_entrypoints.cli.options import standard_input
from hedgerow_entrypoints.components import RUNNABLE, component
from hedgerow_entrypoints.configuration import read_configuration
from hedgerow_entrypoints.errors import CommandError, note

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
    texts = map(_texts_below_attributes, reversed(type(defaults).__mro__[:-1]))
    meanings = {attribute: text for of_class in texts for attribute, text in of_class.items()}
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
    if get_origin(type_) is tuple:
        return f"list of {_type(get_args(type_)[0])}s"
    if get_origin(type_) is Mapping:
        return f"map of {_type(get_args(type_)[1])}s"
    return _SCALARS.get(type_, "object")


def _default(field: SectionField, value: Any) -> str:
    if value is None and field.default_when_enabled is None:
        return ""
    return _shown(value) if value is not None else f"{_shown(field.default_when_enabled)} where enabled"


def _shown(value: Any) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return value if isinstance(value, str) and value else json.dumps(value)


def _summary(section: type[Section] | None) -> str:
    return (inspect.getdoc(section) or "").partition("\n\n")[0].replace("\n", " ")


@cache
def _texts_below_attributes(class_: type) -> Mapping[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(class_))).body
    texts: dict[str, str] = {}
    for statement, following in pairwise(definition.body if isinstance(definition, ast.ClassDef) else ()):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
            case _:
                pass
    return texts


@click.group(name="config")
def command() -> None:
    """Check and explain component configuration files."""


@command.command(short_help="Print a configuration with its defaults, or its errors.")
@click.argument("file")
def check(file: str) -> None:
    """Print the configuration in FILE with all its defaults, or everything that is wrong with it, a line each.

    FILE is a file, or - for standard input.

    Exit code 0: valid; 1: not valid, or not readable. Fields that are not known, and those that do nothing yet, are
    warned of.
    """
    decoded = read_configuration(file, Purpose.RUN, stdin=standard_input()).decoded
    for warning in decoded.warnings:
        note(f"warning: {file}: {warning}")
    click.echo(render_yaml([decoded.configuration.manifest()]), nl=False)


@command.command(short_help="Say what a field means, and what it is by default.")
@click.argument("path", default="")
@click.option("-r", "--recursive", is_flag=True, help="All fields below it instead, one to a line.")
@click.option(
    "--component", "of", type=click.Choice(RUNNABLE), help="Whose file; by default the first with such a field."
)
def explain(path: str, *, recursive: bool, of: str | None) -> None:
    """Say of the field at PATH, such as controllers.node, and of those right below it, what they mean.

    Without PATH: of the whole file.
    """
    kind, field = _field(path, RUNNABLE if of is None else (of,))
    if recursive:
        for below in field.walk():
            if below.path and not below.fields:
                click.echo(f"{below.path} {_nature(below)}")
        return
    click.echo(_explained(field, field.path or kind, ""))
    for below in field.fields:
        click.echo("\n" + _explained(below, below.path.rpartition(".")[2], "  "))


def _field(path: str, components: Sequence[str]) -> tuple[str, FieldDescription]:
    """The field at a path, in which the places in lists do not matter, of the first component whose file has it."""
    wanted, known = _without_places(path.strip(".")), list[str]()
    for document in filter(None, (component(name).document for name in components)):
        fields = {_without_places(field.path): field for field in configuration_fields(document).walk()}
        if wanted in fields:
            return document.kind, fields[wanted]
        known += fields
    raise CommandError(f'there is no field "{path}"{perhaps(wanted, known)}')


def _without_places(path: str) -> str:
    return re.sub(r"\[[^]]*\]?", "", path)


def _explained(field: FieldDescription, name: str, indentation: str) -> str:
    meaning = click.wrap_text(field.meaning, 100, f"{indentation}  ", f"{indentation}  ")
    return f"{indentation}{name} {_nature(field)}\n{meaning}"


def _nature(field: FieldDescription) -> str:
    return f"<{field.type}>, default {field.default}" if field.default else f"<{field.type}>"
