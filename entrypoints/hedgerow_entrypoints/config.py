"""`hedgerow config`: questions about component configuration files."""

import click

from hedgerow.resource_manager.configuration import decode, manifest
from hedgerow_adapters.files import render_yaml
from hedgerow_entrypoints.configuration import read_configuration
from hedgerow_entrypoints.errors import note


@click.group(name="config")
def command() -> None:
    """Check component configuration files."""


@command.command(short_help="Print a configuration with its defaults, or its errors.")
@click.argument("file")
def check(file: str) -> None:
    """Print the configuration in FILE with all its defaults, or everything that is wrong with it, a line each.

    Exit code 0: valid; 1: not valid, or not readable. Fields that are not known, and those that do nothing yet, are
    warned of.
    """
    decoded = read_configuration(file, decode)
    for warning in decoded.warnings:
        note(f"warning: {file}: {warning}")
    click.echo(render_yaml([manifest(decoded.configuration)]), nl=False)
