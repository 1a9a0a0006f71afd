"""`hedgerow plan`: what controllers would do, without doing it."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

import click

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.simulation import in_memory
from hedgerow_entrypoints.cli.controllers import (
    LISTED,
    ControllerName,
    OfflineSettings,
    ask_files,
    chosen_controllers,
    controller_settings,
)
from hedgerow_entrypoints.cli.options import filenames, live_cluster
from hedgerow_entrypoints.cli.plan_live import ClusterAccess, live_clusters
from hedgerow_entrypoints.cli.planning import planned_in
from hedgerow_entrypoints.cli.rendering import DONE, FORMATS, summary
from hedgerow_entrypoints.cli.worlds import clusters_of, objects_in_files
from hedgerow_entrypoints.errors import note

CHANGES_PENDING: Final = 2
EPILOG: Final = f"""\b
Controllers:
{LISTED}

\b
Examples:
  hedgerow plan networkpolicy -f manifests/ -o table
  hedgerow plan managedresource -f manifests/ -f live/
  kubectl get ns,svc,ing,netpol -A -o yaml | hedgerow plan networkpolicy -f -
  hedgerow plan networkpolicy --context seed --config resource-manager.yaml"""


@click.command(name="plan", epilog=EPILOG)
@click.argument("controllers", nargs=-1, required=True, type=ControllerName(), metavar="CONTROLLER...")
@filenames()
@live_cluster("Take the objects from this cluster instead")
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="Component configuration; names the cluster too, unless an option does.",
)
@click.option(
    "-o", "--output", type=click.Choice(list(FORMATS)), default="diff", show_default=True, help="How to show the plan."
)
@click.option("--show-secrets", is_flag=True, help="Show what Secrets hold; otherwise only that it changes.")
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    *,
    config_file: str | None,
    output: str,
    show_secrets: bool,
) -> None:
    """Show what controllers would do to the objects in files or in a cluster.

    CONTROLLER is one or more of those listed below.

    Exit code 0: nothing to do; 2: changes pending; 1: an error, or an object that cannot be planned for. The others
    are planned and shown all the same.
    """
    settings = controller_settings(config_file)
    is_named = kubeconfig is not None or context is not None
    live = is_named or bool(not paths and settings.process.looked_after.kubeconfig)
    if live == bool(paths):
        raise click.UsageError("give the objects either by -f or by --kubeconfig/--context")
    now = datetime.now(UTC)
    explained: Callable[[Failure], str] = str
    if live:
        with live_clusters(_places(settings, kubeconfig, context)) as clusters:
            chosen = chosen_controllers(controllers, settings, clusters.ask)
            planned, failures = planned_in(((each, clusters.worlds(now, each.remarks)) for each in chosen), now)
    else:
        objects = objects_in_files(paths)
        chosen, clock = chosen_controllers(controllers, settings, ask_files(objects)), SettableClock()
        seeded = clusters_of(objects, [[each.controller] for each in chosen], clock)
        # What files tell no age of is older than whatever is done to it.
        clock.now, explained = now, seeded[0].located
        namespaces = settings.process.looked_after.namespaces
        worlds = [in_memory(each.cluster, namespaces=namespaces) for each in seeded]
        planned, failures = planned_in(zip(chosen, worlds, strict=True), now)
    shown = planned if show_secrets else [each.without_secrets for each in planned]
    click.echo(FORMATS[output](shown, failures), nl=False)
    for failure in failures:
        note(f"error: {explained(failure)}")
    counts = Counter(each.verb for each in planned)
    note(summary([(counts[verb], f"to {verb}") for verb in DONE], failures))
    if failures:
        sys.exit(1)
    if planned:
        sys.exit(CHANGES_PENDING)


def _places(settings: OfflineSettings, kubeconfig: str | None, context: str | None) -> Mapping[Cluster, ClusterAccess]:
    """Where the clusters are: one that the command line names plays both roles."""
    roles = {Cluster.TARGET: settings.process.looked_after, Cluster.SOURCE: settings.process.source}
    is_named = kubeconfig is not None or context is not None
    return {
        role: ClusterAccess(kubeconfig if is_named else connection.kubeconfig or None, context, connection.namespaces)
        for role, connection in roles.items()
    }
