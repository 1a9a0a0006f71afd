"""`hedgerow simulate`: what exists once controllers have settled in the in-memory cluster."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import click

from hedgerow.machinery.clusters import is_visible
from hedgerow.machinery.controller import Controller, is_owned
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.scalars import format_duration
from hedgerow.resource_manager.secret_redaction import redacted
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import SimulationError
from hedgerow_adapters.simulation.planning import Settlement, settle
from hedgerow_entrypoints.cli.controllers import LISTED, ControllerName, ask_files, chosen_controllers, offline_settings
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, config_file, filenames
from hedgerow_entrypoints.cli.rendering import DONE, summary, verb_of, without_server_fields
from hedgerow_entrypoints.cli.spans import passing_time
from hedgerow_entrypoints.cli.worlds import clusters_of, located_in, objects_in_files, reads_more_than_it_watches
from hedgerow_entrypoints.errors import CommandError, note

EPILOG: Final = f"""\b
Controllers:
{LISTED}

\b
Examples:
  hedgerow simulate networkpolicy -f manifests/ > policies.yaml
  hedgerow simulate networkpolicy -f old/ --all | hedgerow plan networkpolicy -f - -f new.yaml
  hedgerow simulate token-requestor -f secrets.yaml --for 30d"""


@click.command(name="simulate", epilog=EPILOG)
@click.argument("controllers", nargs=-1, required=True, type=ControllerName(), metavar="CONTROLLER...")
@filenames(required=True)
@config_file("Component configuration of the controllers.")
@click.option("--all", "everything", is_flag=True, help="Print the objects that the controllers read as well.")
@click.option(
    "-o",
    "--output",
    type=click.Choice([*OBJECT_FORMATS, "timeline"]),
    help="How to print: yaml; with --for timeline, or json.",
)
@click.option(
    "--show-secrets", is_flag=True, help="Print what Secrets hold; without it they cannot be applied or planned for."
)
@passing_time()
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    *,
    config_file: str | None = None,
    everything: bool,
    output: str | None,
    show_secrets: bool,
    length: timedelta | None,
    start: datetime | None,
    seed: int | None,
    arrivals: tuple[tuple[timedelta, str], ...],
    all_lines: bool,
) -> None:
    """Let controllers work on the objects in files until they have settled, and print what they own then.

    CONTROLLER is one or more of those listed below.

    With --for, time passes, and what happens is printed instead: keys are looked at again when they asked for it, and
    what failed is tried again after the usual waits. What runs alike is folded. Thirty days of 1000 tokens take about
    half a minute, and so does a month of one ManagedResource, which is looked at every minute.

    Exit code 0: settled; 1: an error, or an object that the controllers cannot deal with, with --for in the end. The
    outcome of the others is printed all the same. 130: interrupted, 143: terminated; what has
    happened until then is printed.
    """
    with_time = {"--start": start, "--seed": seed, "--at": arrivals, "--all-lines": all_lines}
    _require_sense(length, output, with_time, {"--all": everything, "--show-secrets": show_secrets})
    for after, path in arrivals:
        if length is not None and after > length:
            late, end = format_duration(after), format_duration(length)
            raise click.UsageError(f"--at: {path} comes after {late}, and --for ends after {end}")
    settings, objects = offline_settings(config_file), objects_in_files(paths)
    explained, namespaces = located_in(objects), settings.process.looked_after.namespaces
    chosen = [each.controller for each in chosen_controllers(controllers, settings, ask_files(objects), explained)]
    if length is not None:
        # Slow to import, and most simulations are about a moment.
        from hedgerow_entrypoints.cli.timed_simulation import Options, let_time_pass  # noqa: PLC0415

        options = Options(length, start, seed or 0, arrivals, output or "timeline", all_lines)
        let_time_pass(options, objects, chosen, namespaces)
        return
    (cluster,) = clusters_of(objects, [chosen])
    try:
        settlement = settle(cluster, chosen, namespaces=namespaces)
    except SimulationError as error:
        raise CommandError(str(error)) from error
    found = everything_read(cluster, chosen, namespaces) if everything else _outcome(cluster, chosen, settlement)
    shown = [without_server_fields(each if show_secrets else redacted(each)) for each in found]
    click.echo(OBJECT_FORMATS[output or "yaml"](shown), nl=False)
    problems = settlement.problems(explained)
    for problem in problems:
        note(f"error: {problem}")
    counts = Counter(verb_of(step.action) for step in settlement.steps if not step.error)
    note(summary([(counts[verb], done) for verb, done in DONE.items()], problems))
    if problems:
        sys.exit(1)


def _require_sense(
    length: timedelta | None, output: str | None, with_time: Mapping[str, object], without: Mapping[str, object]
) -> None:
    """Refuse options that do not go together."""
    options, bad_output = (with_time, "timeline") if length is None else (without, "yaml")
    wrong = [name for name, value in options.items() if value not in (None, False, ())]
    wrong += [f"-o {output}"] if output == bad_output else []
    if wrong:
        raise click.UsageError(f"{wrong[0]} is {'only for' if length is None else 'not for'} --for")


def _outcome(
    cluster: InMemoryCluster, controllers: Sequence[Controller[Any]], settlement: Settlement
) -> list[Manifest]:
    """What controllers own; of those that own nothing, what they have written."""
    found = {
        (controller.owned.resource, key_of(manifest)): manifest
        for controller in controllers
        if controller.owned is not None
        for manifest in cluster.objects(controller.owned.resource)
        if is_owned(controller, manifest)
    }
    ownerless = {controller.name for controller in controllers if controller.owned is None}
    for step in settlement.steps:
        resource, key = step.action.resource, step.action.key
        if step.controller in ownerless and cluster.serves(resource) and (live := cluster.get(resource, key)):
            found[resource, key] = live
    return [*found.values()]


def everything_read(
    cluster: InMemoryCluster, controllers: Sequence[Controller[Any]], namespaces: Sequence[str]
) -> list[Manifest]:
    """What controllers read in some namespaces, or in all; of those that read more than they watch, everything."""
    if any(map(reads_more_than_it_watches, controllers)):
        return [manifest for resource in cluster.resources for manifest in cluster.objects(resource)]
    watches = {watch.resource: watch for controller in controllers for watch in controller.watches}
    return [
        manifest
        for resource, watch in watches.items()
        if cluster.serves(resource)
        for manifest in cluster.objects(resource)
        if is_visible(resource, key_of(manifest), namespaces) and watch.reads(manifest)
    ]
