"""`hedgerow plan`: what controllers would do, without doing it."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import click

from hedgerow.machinery.controller import all_keys, owned_objects, primary_object
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import is_terminating
from hedgerow.machinery.plan import Action, Delete, only_asks
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow_adapters.files.sources import LoadedObject
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.simulation.clusters import CrashedTurnError, SentAction, SimulationError, Worlds, in_memory
from hedgerow_adapters.simulation.planning import Planner
from hedgerow_adapters.simulation.simulation import Charts
from hedgerow_entrypoints.cli.controllers import (
    LISTED,
    Chosen,
    ControllerName,
    ask_files,
    chosen_controllers,
    kube_version,
    offline_charts,
    offline_settings,
)
from hedgerow_entrypoints.cli.deliveries import with_objects
from hedgerow_entrypoints.cli.options import config_file, filenames, live_cluster, output_format
from hedgerow_entrypoints.cli.planned_namespaces import missing_namespaces
from hedgerow_entrypoints.cli.rendering import DONE, FORMATS, Planned, summary
from hedgerow_entrypoints.cli.worlds import clusters_of, live_clusters, located_in, objects_in_files
from hedgerow_entrypoints.components.registry import Ask, Remarks
from hedgerow_entrypoints.configuration import Stated
from hedgerow_entrypoints.errors import CommandError, note

CHANGES_PENDING: Final = 2
NOT_TRIED: Final = (
    "note: admission and quotas of the API server have not been asked: "
    "kubectl apply --dry-run=server asks them about a manifest"
)
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
@kube_version()
@output_format(FORMATS, "How to show the plan.")
@click.option("--show-secrets", is_flag=True, help="Show what Secrets hold; otherwise only that it changes.")
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    *,
    config_file: str | None = None,
    kube_version: str | None,
    output: str,
    show_secrets: bool,
) -> None:
    """Show what controllers would do to the objects in files or in a cluster.

    CONTROLLER is one or more of those listed below.

    Exit code 0: nothing to do; 2: changes pending; 1: an error, or an object that cannot be planned for. The others
    are planned and shown all the same.
    """
    settings, is_named = offline_settings(config_file), kubeconfig is not None or context is not None
    live = is_named or bool(not paths and settings.process.looked_after.kubeconfig)
    if live == bool(paths):
        raise click.UsageError("give the objects either by -f or by --kubeconfig/--context")
    if live and kube_version:
        raise click.UsageError("--kube-version is for -f: a cluster tells its version itself")

    def shown_as(planned: Sequence[Planned], ask: Ask) -> Sequence[Planned]:
        # An object that holds its secrets can be applied as it is.
        is_whole = show_secrets and output in {"yaml", "json"}
        return planned if is_whole else with_objects(planned, ask, show_secrets=show_secrets)

    now, objects = datetime.now(UTC), objects_in_files(paths)
    charts = offline_charts(settings.process, is_version_assumed=not live and kube_version is None)
    explained = located_in(objects)
    if live:
        with live_clusters(settings.process, kubeconfig, context) as clusters:
            chosen = chosen_controllers(controllers, settings, clusters.ask)
            planned, failures = planned_in(((each, clusters.worlds(now, each.remarks)) for each in chosen), now, charts)
            failures += missing_namespaces(planned, clusters.ask)
            shown = shown_as(planned, clusters.ask)
    else:
        planned, failures = planned_in_files(controllers, settings, objects, now, charts, kube_version=kube_version)
        shown = shown_as(planned, ask_files(objects))
    click.echo(FORMATS[output](shown, failures), nl=False)
    for failure in failures:
        note(f"error: {explained(failure)}")
    if live and planned:
        note(NOT_TRIED)
    counts = Counter(each.verb for each in planned)
    note(summary([(counts[verb], f"to {verb}") for verb in DONE], failures))
    if failures or planned:
        sys.exit(1 if failures else CHANGES_PENDING)


def planned_in_files(
    controllers: Sequence[str],
    settings: Stated,
    objects: Sequence[LoadedObject],
    now: datetime,
    charts: Charts,
    *,
    kube_version: str | None,
) -> tuple[list[Planned], list[Failure]]:
    """What the named controllers would do at a time about the objects in files, and what they could not plan."""
    chosen, clock = chosen_controllers(controllers, settings, ask_files(objects), located_in(objects)), SettableClock()
    seeded = clusters_of(objects, [[each.controller] for each in chosen], clock, kube_version=kube_version)
    # What files tell no age of is older than whatever is done to it.
    clock.now = now
    worlds = [in_memory(each, namespaces=settings.process.looked_after.namespaces) for each in seeded]
    return planned_in(zip(chosen, worlds, strict=True), now, charts)


def planned_in(
    work: Iterable[tuple[Chosen, Worlds]], now: datetime, charts: Charts | None = None
) -> tuple[list[Planned], list[Failure]]:
    """What controllers would do at a time, each in its clusters, in order, and what they could not plan."""
    planned: list[Planned] = []
    failures: list[Failure] = []
    try:
        for (controller, remarks), worlds in work:
            with Planner(controller, worlds, now, charts) as planner:
                for remark in (*planner.notes(), *remarks.notes(controller, planner.snapshot)):
                    note(f"note: {remark}")
                more, failed = _planned_by(planner, remarks)
            planned += more
            failures += failed
    except SimulationError as error:
        raise CommandError(str(error)) from error
    return planned, failures


def _planned_by(planner: Planner, remarks: Remarks) -> tuple[list[Planned], list[Failure]]:
    controller, snapshot = planner.controller, planner.snapshot
    planned: list[Planned] = []
    failures: list[Failure] = []
    owners: dict[ObjectQuestion, list[str]] = {}
    owned, deletions = len(owned_objects(controller, snapshot)), 0
    for key in all_keys(controller, snapshot):
        owner = primary_object(controller, snapshot, key)
        try:
            steps, failed = planner.plan(key)
        except CrashedTurnError as crash:
            failures.append(Failure(controller.primary, key, Problem("", str(crash))))
            continue
        planned += _net(controller.name, steps)
        if owner is None or not is_terminating(owner):
            deletions += sum(isinstance(step.action, Delete) for step in steps)
        if (corrected := primary_object(controller, snapshot, key)) is not None:
            failed = failed or tuple(remarks.failures(controller, corrected))
        failures += failed
        for subject in dict.fromkeys(_subject(step.action) for step in steps if not only_asks(step.action)):
            owners.setdefault(subject, []).append(f"{controller.primary.kind} {key}")
    # Controllers may each look after a part of an object, but of the owners within one only one can have it.
    for subject, names in owners.items():
        if len(names) > 1:
            problem = f"is planned for by {', '.join(names[:-1])} and {names[-1]}, of which only one can have it"
            failures.append(Failure(subject.resource, subject.key, Problem("", problem)))
    if controller.owned is not None:
        _warn_of_mass_deletion(controller.name, owned, deletions)
    return planned, failures


def _net(controller: str, steps: Iterable[SentAction]) -> Iterable[Planned]:
    """What steps come to: a creation or change, and changes of the object that follow, are one, at the last's place."""
    planned: dict[int, Planned] = {}
    last: dict[ObjectQuestion, int] = {}
    for number, step in enumerate(steps):
        each, subject = Planned.of(controller, step.action, step.before), _subject(step.action)
        if only_asks(step.action):
            planned[number] = each
            continue
        earlier = last.get(subject)
        if earlier is not None and not step.is_change:
            continue
        if earlier is not None and each.verb == "change" and planned[earlier].verb != "delete":
            each = planned.pop(earlier).then(each)
        planned[number], last[subject] = each, number
    return planned.values()


def _subject(action: Action) -> ObjectQuestion:
    return ObjectQuestion(action.resource, action.key, action.cluster)


def _warn_of_mass_deletion(name: str, owned: int, deletions: int) -> None:
    """Say what a controller would do that starts in this world, and has seen none of its owners go or change."""
    if judge_deletions(deletions, owned, confirmed=True) is Verdict.STOP:
        consequence = "one that starts here refuses to delete so many"
    elif judge_deletions(deletions, owned, confirmed=False) is Verdict.CONFIRM:
        consequence = "one that starts here wants a second, fresh list first"
    else:
        return
    note(f"warning: {name} would delete {deletions} of the {owned} objects that it owns; {consequence}")
