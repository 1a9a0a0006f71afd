"""`hedgerow simulate`: what exists once controllers have settled in the in-memory cluster."""

import sys
from typing import Any, Final

import click

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.files import render_json, render_yaml
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation import Settlement, settle
from hedgerow_entrypoints.controllers import CONTROLLERS, chosen_controllers
from hedgerow_entrypoints.errors import note
from hedgerow_entrypoints.rendering import without_server_fields
from hedgerow_entrypoints.worlds import cluster_from_files

FORMATS: Final = {"yaml": render_yaml, "json": render_json}


@click.command(name="simulate")
@click.argument("controllers", nargs=-1, required=True, type=click.Choice(list(CONTROLLERS)), metavar="CONTROLLER...")
@click.option("-f", "--filename", "paths", multiple=True, required=True, metavar="PATH", help="File, folder, or -.")
@click.option("--config", "config_file", metavar="FILE", help="Component configuration of the controllers.")
@click.option("--all", "everything", is_flag=True, help="Print the objects that the controllers read as well.")
@click.option("-o", "--output", type=click.Choice(list(FORMATS)), default="yaml", show_default=True)
def command(
    controllers: tuple[str, ...], paths: tuple[str, ...], config_file: str | None, *, everything: bool, output: str
) -> None:
    """Let controllers work on the objects in files until they have settled, and print what they own then.

    CONTROLLER is one or more of: network-policy.
    """
    chosen = chosen_controllers(controllers, config_file)
    cluster = cluster_from_files(paths, chosen)
    settlement = settle(cluster, chosen)
    objects = _everything(cluster, chosen) if everything else _owned(cluster, chosen)
    click.echo(FORMATS[output]([without_server_fields(manifest) for manifest in objects]), nl=False)
    if problems := problems_of(settlement):
        for problem in problems:
            note(f"error: {problem}")
        sys.exit(1)


def _owned(cluster: InMemoryCluster, controllers: list[Controller[Any]]) -> list[Manifest]:
    return [
        manifest
        for controller in controllers
        for manifest in cluster.objects(controller.owned.resource)
        if any(controller.owned.values(manifest))
    ]


def _everything(cluster: InMemoryCluster, controllers: list[Controller[Any]]) -> list[Manifest]:
    resources = {watch.resource: None for controller in controllers for watch in controller.watches}
    return [manifest for resource in resources for manifest in cluster.objects(resource)]


def problems_of(settlement: Settlement) -> list[str]:
    """What could not be planned and what the server refused, a sentence each."""
    problems = [str(failure) for failure in settlement.failures]
    problems += [
        f"{step.action.resource.kind} {step.action.key}: {step.refusal}" for step in settlement.steps if step.refusal
    ]
    return problems if settlement.is_settled else [*problems, "the controllers did not come to rest"]
