"""`hedgerow render controller-installation`: what a chart is rendered with, and what it renders to."""

import json
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime

import click

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import readable_names
from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.objects import Kind, ObjectKey, key_of
from hedgerow_adapters.files.sources import LoadedObject
from hedgerow_entrypoints.cli.controllers import kube_version, offline_charts, offline_settings
from hedgerow_entrypoints.cli.deliveries import delivered
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, config_file, filenames, object_format
from hedgerow_entrypoints.cli.plan import planned_in_files
from hedgerow_entrypoints.cli.worlds import located_in, objects_in_files
from hedgerow_entrypoints.errors import note


@click.command(name="controller-installation", short_help="Print what the charts of ControllerInstallations render to.")
@filenames(required=True)
@config_file("Configuration of seed-extensions; otherwise the only Seed counts, and defaults.")
@kube_version()
@click.option("--values", "shows_values", is_flag=True, help="Print the values that the charts see; Helm is not run.")
@object_format()
def controller_installation(
    paths: tuple[str, ...],
    *,
    config_file: str | None = None,
    kube_version: str | None,
    shows_values: bool,
    output: str,
) -> None:
    """Print the objects that the charts of the ControllerInstallations in files render to, as they are delivered.

    The files hold what they are rendered from as well: Seed, ControllerRegistrations, ControllerDeployments, the
    Namespace garden and the ConfigMap with the identity of the garden. Secrets are printed in full.

    Exit code 0: all are rendered; 1: an error, or one cannot be rendered. The others are printed all the same.
    """
    settings, objects = offline_settings(config_file), objects_in_files(paths)
    charts = offline_charts(settings.process, is_version_assumed=kube_version is None)
    asked: list[RenderChart] = []

    def rendered(chart: RenderChart) -> Future[RenderedChart]:
        asked.append(chart)
        if not shows_values:
            return charts(chart)
        nothing = Future[RenderedChart]()
        nothing.set_result(())
        return nothing

    fresh = _without_deliveries(objects)
    planned, failures = planned_in_files(
        ["controllerinstallation"], settings, fresh, datetime.now(UTC), rendered, kube_version=kube_version
    )
    values = [chart.values for chart in asked]
    if shows_values and output == "json":
        click.echo("".join(f"{json.dumps(each, indent=2)}\n" for each in values), nl=False)
    else:
        click.echo(OBJECT_FORMATS[output](values if shows_values else delivered(planned)), nl=False)
    explained = located_in(objects)
    for failure in failures:
        note(f"error: {explained(failure)}")
    if failures:
        sys.exit(1)


def _without_deliveries(objects: Sequence[LoadedObject]) -> list[LoadedObject]:
    """The objects but for ManagedResources and their Secrets: what is delivered already is not rendered anew."""
    deliveries = [each.manifest for each in objects if Kind.of(each.manifest) == MANAGED_RESOURCES.object_kind]
    secrets = {ObjectKey(key_of(each).namespace, name) for each in deliveries for name in readable_names(each)}
    return [
        each
        for each in objects
        if each.manifest not in deliveries
        and (Kind.of(each.manifest) != SECRETS.object_kind or key_of(each.manifest) not in secrets)
    ]
