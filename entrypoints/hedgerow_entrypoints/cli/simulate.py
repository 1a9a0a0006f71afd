"""`hedgerow simulate`: what exists once controllers have settled in the in-memory cluster."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click
from returns.result import Failure

from hedgerow.machinery.clusters import is_visible
from hedgerow.machinery.controller import Controller, is_owned
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.scalars import format_duration, parse_duration, parse_timestamp
from hedgerow.resource_manager.secret_redaction import redacted
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.clusters import SimulationError
from hedgerow_adapters.simulation.planning import Settlement, settle
from hedgerow_entrypoints.cli.controllers import (
    LISTED,
    ControllerName,
    ask_files,
    chosen_controllers,
    kube_version,
    offline_charts,
    offline_settings,
)
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, config_file, filenames
from hedgerow_entrypoints.cli.rendering import DONE, summary, verb_of, without_server_fields
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
_DAYS: Final = re.compile(r"(?=[0-9])0*+([0-9]*+)d([0-9.].*)?", re.DOTALL)
_LONGEST: Final = timedelta(days=36_500)
_DIGITS: Final = 6
"""Of days; more are too many in any case."""
_YEARS: Final = range(1970, 9000)
"""In which time may begin, so that whatever follows from it can still be told as a time."""


def parse_span(text: str) -> timedelta:
    """A duration as Go spells it, with days before it: `30d`, `1d12h`, `90m`."""
    found = _DAYS.fullmatch(text)
    days, rest = (int(found[1][: _DIGITS + 1] or 0), found[2] or "0s") if found else (0, text)
    parsed = parse_duration(rest)
    if isinstance(parsed, Failure):
        examples = '"30d", "1d12h" or "90m"'
        raise click.BadParameter(f"{text!r} is no duration such as {examples}, of at most {_LONGEST.days} days")
    span = timedelta(days=days) + parsed.unwrap()
    if not timedelta(0) <= span <= _LONGEST:
        raise click.BadParameter(f"{text!r} is not between 0 and {_LONGEST.days} days")
    return span


def parse_moment(text: str) -> datetime:
    """A moment as Kubernetes spells it, `2026-01-31T12:00:00Z`, or `now`."""
    moment = datetime.now(UTC).replace(microsecond=0) if text == "now" else parse_timestamp(text)
    if moment is None:
        raise click.BadParameter(f'{text!r} is neither "now" nor a time such as "2026-01-31T12:00:00Z"')
    if moment.year not in _YEARS:
        raise click.BadParameter(f"{text!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}")
    return moment.astimezone(UTC)


def parse_arrival(text: str) -> tuple[timedelta, str]:
    """A file after a duration: `1h=ready.yaml`."""
    after, separator, path = text.partition("=")
    if not separator or not path:
        raise click.BadParameter(f"{text!r} does not say what comes when, such as 1h=FILE")
    return parse_span(after), path


@click.command(name="simulate", epilog=EPILOG)
@click.argument("controllers", nargs=-1, required=True, type=ControllerName(), metavar="CONTROLLER...")
@filenames(required=True)
@config_file("Component configuration of the controllers.")
@kube_version()
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
@click.option(
    "--for",
    "length",
    type=parse_span,
    metavar="DURATION",
    help="Let so much time pass on a clock that does not wait, such as 30d or 1d12h, and print what happens.",
)
@click.option(
    "--start",
    type=parse_moment,
    metavar="TIME",
    help="With --for: when it begins, a time or now; otherwise at the beginning of 2026.",
)
@click.option(
    "--at",
    "arrivals",
    multiple=True,
    type=parse_arrival,
    metavar="DURATION=FILE",
    help="With --for: apply the objects in a file after that time; repeatable.",
)
@click.option("--seed", type=int, metavar="NUMBER", help="With --for: what the jitter is drawn from; 0.")
@click.option("--all-lines", is_flag=True, help="With --for: a line for everything, and nothing is folded.")
def command(
    controllers: tuple[str, ...],
    paths: tuple[str, ...],
    *,
    config_file: str | None = None,
    kube_version: str | None,
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
    charts = offline_charts(settings.process, is_version_assumed=kube_version is None)
    explained, namespaces = located_in(objects), settings.process.looked_after.namespaces
    chosen = [each.controller for each in chosen_controllers(controllers, settings, ask_files(objects), explained)]
    if length is not None:
        # Slow to import, and most simulations are about a moment.
        from hedgerow_entrypoints.cli.timed_simulation import Options, let_time_pass  # noqa: PLC0415

        options = Options(length, start, seed or 0, arrivals, output or "timeline", all_lines, kube_version)
        let_time_pass(options, objects, chosen, namespaces, charts)
        return
    (cluster,) = clusters_of(objects, [chosen], kube_version=kube_version)
    try:
        settlement = settle(cluster, chosen, namespaces=namespaces, charts=charts)
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
