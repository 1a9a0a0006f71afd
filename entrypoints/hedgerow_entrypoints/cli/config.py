"""`hedgerow config`: questions about component configuration files."""

import click

from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.failures import perhaps
from hedgerow_adapters.files import render_yaml
from hedgerow_entrypoints.cli.configuration_fields import FieldDescription, configuration_fields
from hedgerow_entrypoints.cli.options import standard_input
from hedgerow_entrypoints.components import RUNNABLE, component
from hedgerow_entrypoints.configuration import read_configuration
from hedgerow_entrypoints.errors import CommandError, note


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
def explain(path: str, *, recursive: bool) -> None:
    """Say of the field at PATH, such as controllers.node, and of those right below it, what they mean.

    Without PATH: of the whole file.
    """
    kind, field = _field(path)
    if recursive:
        for below in field.walk():
            if below.path and not below.fields:
                click.echo(f"{below.path} {_nature(below)}")
        return
    click.echo(_explained(field, field.path or kind, ""))
    for below in field.fields:
        click.echo("\n" + _explained(below, below.path.rpartition(".")[2], "  "))


def _field(path: str) -> tuple[str, FieldDescription]:
    """The field at a path, in which the places in lists do not matter, of the first kind of file that has it."""
    wanted, known = _without_places(path.strip(".")), list[str]()
    for document in filter(None, (component(name).document for name in RUNNABLE)):
        fields = {_without_places(field.path): field for field in configuration_fields(document).walk()}
        if wanted in fields:
            return document.kind, fields[wanted]
        known += fields
    raise CommandError(f'there is no field "{path}"{perhaps(wanted, known)}')


def _without_places(path: str) -> str:
    return "".join(part.partition("]")[2] if index else part for index, part in enumerate(path.split("[")))


def _explained(field: FieldDescription, name: str, indentation: str) -> str:
    """A field in a line, and below it what it means."""
    meaning = click.wrap_text(field.meaning, 100, f"{indentation}  ", f"{indentation}  ")
    return f"{indentation}{name} {_nature(field)}\n{meaning}"


def _nature(field: FieldDescription) -> str:
    return f"<{field.type}>, default {field.default}" if field.default else f"<{field.type}>"
