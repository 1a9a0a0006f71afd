"""`hedgerow simulate --for`: what happens in the course of time, on a clock that does not wait."""

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn

import click

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.scalars import format_timestamp
from hedgerow_adapters.files.sources import LoadedObject
from hedgerow_adapters.simulation.clusters import Happening, SentAction, SimulationError
from hedgerow_adapters.simulation.planning import Arrival, Arrived, TimedSimulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from hedgerow_entrypoints.cli.rendering import DONE, summary, verb_of
from hedgerow_entrypoints.cli.timeline import Clockwork, every_line, folded_lines
from hedgerow_entrypoints.cli.worlds import clusters_of, located_in, objects_in_files
from hedgerow_entrypoints.errors import note

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When everything begins unless the user says otherwise, so that the output is the same every time."""
INTERRUPTED: Final = 130
TERMINATED: Final = 143
"""The exit codes after Ctrl-C and SIGTERM, as shells have them."""
_PROGRESS: Final = 0.5
"""Seconds between two words to a person who waits at a terminal."""


@dataclass(frozen=True, slots=True)
class Options:
    """How long time passes, and how that is shown."""

    length: timedelta
    start: datetime | None
    """None: the user has not said, so that times are told without dates."""
    seed: int
    arrivals: Sequence[tuple[timedelta, str]]
    """Files, and after which time they are applied."""
    output: str
    """`timeline` or `json`."""
    all_lines: bool


class TerminatedError(KeyboardInterrupt):
    """SIGTERM has come, such as from a pipeline whose time is up."""


class _Course:
    """Iterated once: what happens, counted. After an interrupt it ends with what has happened until then."""

    def __init__(self, simulation: TimedSimulation, length: timedelta) -> None:
        self.simulation = simulation
        self.done: Counter[str] = Counter()
        self.failed = 0
        self.stopped: KeyboardInterrupt | None = None
        self.problem = ""
        self._days = length / timedelta(days=1)

    def __iter__(self) -> Iterator[Happening | Arrived]:
        is_watched, shown = sys.stderr is not None and sys.stderr.isatty(), time.monotonic()
        try:
            for each in self.simulation:
                if isinstance(each, Happening):
                    self.done.update(verb_of(step.action) for step in each.steps if not step.error)
                    self.failed += each.is_failure
                if is_watched and time.monotonic() - shown >= _PROGRESS:
                    shown = time.monotonic()
                    passed = (self.simulation.now - self.simulation.began) / timedelta(days=1)
                    progress = f"{passed:.1f} of {self._days:g} days, {self.simulation.turns} turns "
                    click.echo(f"\r{progress}", nl=False, err=True)
                yield each
        except KeyboardInterrupt as why:
            self.stopped = why
        except SimulationError as problem:
            self.problem = str(problem)
        finally:
            if is_watched:
                click.echo("\r\033[K", nl=False, err=True)


def let_time_pass(
    options: Options, objects: Sequence[LoadedObject], controllers: Sequence[Controller[Any]], namespaces: Sequence[str]
) -> None:
    """Print what controllers do in some namespaces, or in all; the process ends with what is wrong in the end."""
    loop = CalendarLoop(options.start or START)
    arrivals = [Arrival(after, path, objects_in_files([path])) for after, path in options.arrivals]
    for each in arrivals:
        if not each.objects:
            note(f"note: {each.source}: holds no objects")
    later = [each for arrival in arrivals for each in arrival.objects]
    (cluster,) = clusters_of(objects, [controllers], now=loop.utc_now, later=later)
    clusters = dict.fromkeys(Cluster, cluster)
    simulation = TimedSimulation(
        loop, clusters, controllers, options.length, seed=options.seed, arrivals=arrivals, namespaces=namespaces
    )
    course = _Course(simulation, options.length)
    clockwork = Clockwork(simulation.began, is_absolute=bool(options.start))
    lines = (every_line if options.all_lines else folded_lines)(course, clockwork)
    if options.output == "json":
        lines = (json.dumps(_document(each, clockwork.began), ensure_ascii=False) for each in course)
    # SIGTERM interrupts, as Ctrl-C does, so that what has happened until then is printed.
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        for line in lines:
            click.echo(line)
    except KeyboardInterrupt as why:
        course.stopped = why
    finally:
        signal.signal(signal.SIGTERM, before)
    _conclude(course, clockwork, located_in(objects))


def _terminate(_number: int, _frame: object) -> NoReturn:
    raise TerminatedError


def _conclude(course: _Course, clockwork: Clockwork, explained: Callable[[Failure], str]) -> None:
    simulation = course.simulation
    problems = [course.problem] if course.problem else []
    problems += [problem for turn in simulation.failing for problem in turn.problems(explained)]
    for problem in problems:
        note(f"error: {problem}")
    if course.stopped:
        note(f"interrupted at {clockwork.told(simulation.now).strip()}")
    counts = summary([(course.done[verb], done) for verb, done in DONE.items()], problems)
    failed = f"; {course.failed} failed" if course.failed else ""
    due = f"next due at {clockwork.told(simulation.due).strip()}" if simulation.due is not None else "nothing is due"
    note(f"{simulation.turns} turn{'s' * (simulation.turns != 1)}{failed}; {counts}; {due}")
    if course.stopped:
        sys.exit(TERMINATED if isinstance(course.stopped, TerminatedError) else INTERRUPTED)
    if problems:
        sys.exit(1)


def _document(happened: Happening | Arrived, began: datetime) -> dict[str, Any]:
    moment = {"time": format_timestamp(happened.at), "after": (happened.at - began).total_seconds()}
    if isinstance(happened, Arrived):
        return {**moment, "applied": happened.arrival.source, "refused": [str(each) for each in happened.problems]}
    return {
        **moment,
        "controller": happened.controller,
        "key": _stated(happened.key._asdict()),
        "actions": [_action(step) for step in happened.steps],
        "events": [{"type": each.type, "reason": each.reason, "note": each.note} for each in happened.events],
        "failures": [str(failure) for failure in happened.failures],
        "againAfter": happened.again_after,
    }


def _action(step: SentAction) -> dict[str, Any]:
    action = step.action
    return _stated(
        {
            "verb": verb_of(action),
            "apiVersion": action.resource.api_version,
            "kind": action.resource.kind,
            "key": _stated(action.key._asdict()),
            "subresource": getattr(action, "subresource", ""),
            "reason": action.reason,
            "refusal": step.error,
        }
    )


def _stated(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value}
