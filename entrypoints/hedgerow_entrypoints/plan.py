"""`hedgerow plan`: what controllers would do, without doing it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import click

from hedgerow.machinery.controller import Controller, owned_objects, plans, primary_object
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating
from hedgerow.machinery.plan import Action
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.simulation import world_of
from hedgerow_entrypoints.controllers import (
    CONTROLLERS,
    chosen_controllers,
    namespaces_looked_after,
    offline_configuration,
)
from hedgerow_entrypoints.errors import note
from hedgerow_entrypoints.rendering import FORMATS, Planned, summary
from hedgerow_entrypoints.worlds import cluster_from_files, world_from_cluster

CHANGES_PENDING: Final = 2
EXAMPLES: Final = """\b
Examples:
  hedgerow plan network-policy -f manifests/ -o table
  kubectl get ns,svc,ing,netpol -A -o yaml | hedgerow plan network-policy -f -
  hedgerow plan network-policy --context seed --config resource-manager.yaml"""


@click.command(name="plan", epilog=EXAMPLES)
@click.argument("controllers", nargs=-1, required=True, type=click.Choice(list(CONTROLLERS)), metavar="CONTROLLER...")
@click.option(
    "-f",
    "--filename",
    "paths",
    multiple=True,
    metavar="PATH",
    help="File, folder, or - for standard input; repeatable.",
)
@click.option("--kubeconfig", metavar="FILE", help="Take the objects from this cluster instead; it is only read.")
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; alone: of $KUBECONFIG or ~/.kube/config.")
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="Component configuration; names the cluster too, unless an option does.",
)
@click.option(
    "-o", "--output", type=click.Choice(list(FORMATS)), default="diff", show_default=True, help="How to show the plan."
)
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    *,
    config_file: str | None,
    output: str,
) -> None:
    """Show what controllers would do to the objects in files or in a cluster.

    CONTROLLER is one or more of: network-policy.

    Exit code 0: nothing to do; 2: changes pending; 1: an error, or an object that cannot be planned for. The others
    are planned and shown all the same.
    """
    configuration = offline_configuration(config_file)
    connection = configuration.looked_after if configuration else None
    if connection and not paths and context is None:
        kubeconfig = kubeconfig or connection.kubeconfig or None
    live = kubeconfig is not None or context is not None
    if live == bool(paths):
        raise click.UsageError("give the objects either by -f or by --kubeconfig/--context")
    chosen, namespaces = chosen_controllers(controllers, configuration), namespaces_looked_after(configuration)
    explained: Callable[[DomainFailure], str] = str
    if live:
        world = world_from_cluster(kubeconfig, context, chosen, namespaces)
        planned, failures = _planned_for(chosen, [world] * len(chosen))
    else:
        files = cluster_from_files(paths, chosen)
        explained = files.located
        worlds = [world_of(files.cluster, controller, namespaces) for controller in chosen]
        planned, failures = _planned_for(chosen, worlds)
    click.echo(FORMATS[output](planned, failures), nl=False)
    for failure in failures:
        note(f"error: {explained(failure)}")
    note(_summary(planned, failures))
    if failures:
        sys.exit(1)
    if planned:
        sys.exit(CHANGES_PENDING)


def _planned_for(
    controllers: Sequence[Controller[Any]], worlds: Sequence[Mapping[Resource, Sequence[Manifest]]]
) -> tuple[list[Planned], list[DomainFailure]]:
    planned: list[Planned] = []
    failures: list[DomainFailure] = []
    owners: dict[tuple[Resource, ObjectKey], list[str]] = {}
    now = datetime.now(UTC)
    for controller, world in zip(controllers, worlds, strict=True):
        snapshot = StoreSnapshot.of(controller, world)
        deletions = 0
        for key, plan in plans(controller, snapshot, now):
            planned += [Planned(controller.name, action, _live(snapshot, action)) for action in plan.actions]
            for subject in dict.fromkeys((action.resource, action.key) for action in plan.actions):
                owners.setdefault(subject, []).append(f"{controller.primary.kind} {key}")
            failures += plan.failures
            deletions += 0 if _owner_goes(controller, snapshot, key) else plan.deletions
        _warn_of_mass_deletion(controller, snapshot, deletions)
    return planned, [*failures, *_disputes(owners)]


def _disputes(owners: Mapping[tuple[Resource, ObjectKey], Sequence[str]]) -> Iterator[DomainFailure]:
    """A failure for each object that several want to be as they say: only one of them can have it.

    Args:
        owners: whose plans concern an object, by its resource and key.
    """
    for (resource, key), names in owners.items():
        if len(names) > 1:
            everybody = f"{', '.join(names[:-1])} and {names[-1]}"
            yield DomainFailure(resource, key, "", f"is planned for by {everybody}, of which only one can have it")


def _live(snapshot: StoreSnapshot, action: Action) -> Manifest | None:
    kept = snapshot.get(action.resource, action.key, action.cluster)
    return kept and {"apiVersion": action.resource.api_version, "kind": action.resource.kind, **kept}


def _owner_goes(controller: Controller[Any], snapshot: StoreSnapshot, key: ObjectKey) -> bool:
    owner = primary_object(controller, snapshot, key)
    return owner is not None and is_terminating(owner)


def _warn_of_mass_deletion(controller: Controller[Any], snapshot: StoreSnapshot, deletions: int) -> None:
    """Say what a controller would do that starts in this world, and has seen none of its owners go or change."""
    owned = len(owned_objects(controller, snapshot))
    if judge_deletions(deletions, owned, confirmed=True) is Verdict.STOP:
        consequence = "one that starts here refuses to delete so many"
    elif judge_deletions(deletions, owned, confirmed=False) is Verdict.CONFIRM:
        consequence = "one that starts here wants a second, fresh list first"
    else:
        return
    note(f"warning: {controller.name} would delete {deletions} of the {owned} objects that it owns; {consequence}")


def _summary(planned: Sequence[Planned], failures: Sequence[DomainFailure]) -> str:
    counts = Counter(each.verb for each in planned)
    return summary([(counts[verb], f"to {verb}") for verb in ("create", "change", "delete")], failures)
