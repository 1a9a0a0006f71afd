"""`hedgerow plan`: what controllers would do, without doing it."""

import sys
from collections import Counter
from datetime import UTC, datetime
from typing import Final

import click

from hedgerow.machinery.clusters import Cluster
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
from hedgerow_entrypoints.cli.options import config_file, filenames, live_cluster, output_format
from hedgerow_entrypoints.cli.planning import planned_in
from hedgerow_entrypoints.cli.rendering import DONE, FORMATS, summary
from hedgerow_entrypoints.cli.worlds import ClusterAccess, clusters_of, live_clusters, located_in, objects_in_files
from hedgerow_entrypoints.errors import note

CHANGES_PENDING: Final = 2
_ROLES: Final = (Cluster.TARGET, Cluster.SOURCE)
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
@config_file("Component configuration; names the cluster too, unless an option does.")
@output_format(FORMATS, "How to show the plan.")
@click.option("--show-secrets", is_flag=True, help="Show what Secrets hold; otherwise only that it changes.")
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    *,
    config_file: str | None = None,
    output: str,
    show_secrets: bool,
) -> None:
    """Show what controllers would do to the objects in files or in a cluster.

    CONTROLLER is one or more of those listed below.

    Exit code 0: nothing to do; 2: changes pending; 1: an error, or an object that cannot be planned for. The others
    are planned and shown all the same.
    """
    settings, is_named = controller_settings(config_file), kubeconfig is not None or context is not None
    live = is_named or bool(not paths and settings.process.looked_after.kubeconfig)
    if live == bool(paths):
        raise click.UsageError("give the objects either by -f or by --kubeconfig/--context")
    now, objects = datetime.now(UTC), objects_in_files(paths)
    explained = located_in(objects)
    if live:
        with live_clusters({role: _access(settings, role, kubeconfig, context) for role in _ROLES}) as clusters:
            chosen = chosen_controllers(controllers, settings, clusters.ask)
            planned, failures = planned_in(((each, clusters.worlds(now, each.remarks)) for each in chosen), now)
    else:
        chosen, clock = chosen_controllers(controllers, settings, ask_files(objects), explained), SettableClock()
        seeded = clusters_of(objects, [[each.controller] for each in chosen], clock)
        # What files tell no age of is older than whatever is done to it.
        clock.now = now
        worlds = [in_memory(each, namespaces=settings.process.looked_after.namespaces) for each in seeded]
        planned, failures = planned_in(zip(chosen, worlds, strict=True), now)
    shown = planned if show_secrets else [each.without_secrets for each in planned]
    click.echo(FORMATS[output](shown, failures), nl=False)
    for failure in failures:
        note(f"error: {explained(failure)}")
    counts = Counter(each.verb for each in planned)
    note(summary([(counts[verb], f"to {verb}") for verb in DONE], failures))
    if failures or planned:
        sys.exit(1 if failures else CHANGES_PENDING)


def _access(settings: OfflineSettings, role: Cluster, kubeconfig: str | None, context: str | None) -> ClusterAccess:
    """How to reach a cluster: one that the command line names plays both roles."""
    stated = settings.process.source if role is Cluster.SOURCE else settings.process.looked_after
    if kubeconfig is None and context is None:
        kubeconfig = stated.kubeconfig or None
    return ClusterAccess(kubeconfig, context, stated.namespaces)
