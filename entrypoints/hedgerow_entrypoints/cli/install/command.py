"""`hedgerow install`: what has to be in a cluster for a component to run there."""

from collections.abc import Sequence
from typing import Final

import click
from returns.result import Failure

from hedgerow.resource_manager.installation.manifests import manifests
from hedgerow_adapters.files import render_sorted_yaml
from hedgerow_entrypoints.cli.install.installing import installation, warnings
from hedgerow_entrypoints.cli.install.stated import stated_values
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, home_namespace, object_format
from hedgerow_entrypoints.errors import CommandError, note

EXAMPLES: Final = """\b
Examples:
  hedgerow install resource-manager -n garden -f values.yaml | kubectl apply -f -
  hedgerow install resource-manager -n shoot--a--b -f values.yaml --part target"""


@click.group(name="install", epilog=EXAMPLES)
def command() -> None:
    """Print the manifests of an installation, the same as the Helm chart renders."""


@command.command(name="resource-manager", short_help="Print what the resource manager needs.")
@click.option("-f", "--values", "files", multiple=True, metavar="FILE", help="Values of the chart; repeatable.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A single value, such as replicas=3; repeatable."
)
@home_namespace("-n", "--namespace", purpose="Where it runs.")
@click.option(
    "--part",
    type=click.Choice(["source", "target", "all"]),
    help="For the cluster where it runs, for a separate target cluster, or both.  [default: source]",
)
@object_format()
def resource_manager(
    files: Sequence[str], settings: Sequence[str], *, namespace: str, part: str | None, output: str
) -> None:
    """Print the manifests of the resource manager: definition, roles, pods, registrations of webhooks.

    Which roles and which webhooks there are follows from the component configuration, the value `config`.

    The namespace itself is not among them.
    """
    values = stated_values(files, settings, part=part)
    for warning in warnings(values, namespace):
        note(f"warning: {warning}")
    stated = installation(values, namespace)
    if isinstance(stated, Failure):
        raise CommandError(*stated.failure())
    wanted = stated.unwrap()
    objects = manifests(wanted, render_sorted_yaml(wanted.document))
    if isinstance(objects, Failure):
        raise CommandError(*objects.failure())
    click.echo(OBJECT_FORMATS[output](objects.unwrap()), nl=False)
