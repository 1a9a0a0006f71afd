"""`hedgerow crds`: what tells API servers of the resources that the project defines."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import click
from click.shell_completion import CompletionItem

from hedgerow.api.custom_resources import CUSTOM_RESOURCES
from hedgerow.api.definition import CustomResource, build_definition
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, object_format

BY_NAME: Final = {name: custom for custom in CUSTOM_RESOURCES for name in custom.names}


def _known(context: click.Context, _argument: click.Parameter, names: Sequence[str]) -> Sequence[CustomResource]:
    """The resources of these names in the order of the catalog, each once; all where none is named."""
    for name in names:
        if name not in BY_NAME:
            close = get_close_matches(name, BY_NAME, n=1)
            known = ", ".join(str(custom.resource) for custom in CUSTOM_RESOURCES)
            hint = f" Did you mean '{close[0]}'?" if close else f" There are: {known}."
            raise click.UsageError(f"No resource is called '{name}'.{hint}", context)
    wanted = [BY_NAME[name] for name in names]
    return [custom for custom in CUSTOM_RESOURCES if custom in wanted or not names]


def _completed(_context: click.Context, _argument: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(str(each.resource)) for each in CUSTOM_RESOURCES if str(each.resource).startswith(begun)]


@click.command(name="crds")
@click.argument("wanted", metavar="[NAME]...", nargs=-1, callback=_known, shell_complete=_completed)
@object_format()
def command(wanted: Sequence[CustomResource], output: str) -> None:
    """Print the CustomResourceDefinitions of the resources that the project defines, or of those that are named.

    NAME is any by which kubectl knows the resource, such as managedresources.resources.gardener.cloud or mr.

    To install one: hedgerow crds managedresources | kubectl apply -f -
    """
    click.echo(OBJECT_FORMATS[output]([build_definition(custom) for custom in wanted]), nl=False)
