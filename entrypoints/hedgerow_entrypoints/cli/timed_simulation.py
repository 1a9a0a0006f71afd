"""`hedgerow simulate --for`: what happens in the course of time, on a clock that does not wait, as lines for people.

A line holds when something happened, to which key of which controller, and what. Where the same happens to a key
several times without anything else between, the line of the first time says how often, until when, and how much time
lay between. What runs alike at many keys is shown of the first ones, and counted of the others.
"""

import itertools
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn, TypeAlias

import click

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Action, Delete
from hedgerow.machinery.scalars import format_duration, format_timestamp
from hedgerow_adapters.files.sources import LoadedObject, printable
from hedgerow_adapters.simulation.clusters import Happening, SentAction, SimulationError
from hedgerow_adapters.simulation.planning import Arrival, Arrived, TimedSimulation
from hedgerow_adapters.simulation.simulation import Charts
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from hedgerow_entrypoints.cli.rendering import DONE, summary, verb_of
from hedgerow_entrypoints.cli.worlds import clusters_of, located_in, objects_in_files
from hedgerow_entrypoints.errors import note

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When everything begins unless the user says otherwise, so that the output is the same every time."""
INTERRUPTED: Final = 130
TERMINATED: Final = 143
"""The exit codes after Ctrl-C and SIGTERM, as shells have them."""
_PROGRESS: Final = 0.5
"""Seconds between two words to a person who waits at a terminal."""
KEYS_SHOWN: Final = 5
"""Of so many keys the runs are shown, where those of more are alike."""
_Happened: TypeAlias = Happening | Arrived
_Shape: TypeAlias = tuple[str, tuple[str, ...]]
"""The controller, and what was done to what kinds of objects."""


@dataclass(frozen=True, slots=True)
class Options:
    """How long time passes, and how that is shown."""

    length: timedelta
    start: datetime | None
    """None: the user has not said, so that times are told without dates."""
    seed: int
    arrivals: Sequence[tuple[timedelta, str]]
    output: str
    all_lines: bool
    kube_version: str | None = None


@dataclass(frozen=True, slots=True)
class _Clockwork:
    """How times are told."""

    began: datetime
    is_absolute: bool
    """Whether the date is told beside the time that has passed."""

    def told(self, at: datetime) -> str:
        """A time: for how long everything has gone on, in days and hours."""
        passed = at - self.began
        minutes, seconds = divmod(passed.seconds, 60)
        clock = f"{passed.days:3}d {minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        return f"{clock}  {format_timestamp(at)}" if self.is_absolute else clock


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
    options: Options,
    objects: Sequence[LoadedObject],
    controllers: Sequence[Controller[Any]],
    namespaces: Sequence[str],
    charts: Charts,
) -> None:
    """Print what controllers do in some namespaces, or in all; the process ends with what is wrong in the end."""
    loop = CalendarLoop(options.start or START)
    arrivals = [Arrival(after, path, objects_in_files([path])) for after, path in options.arrivals]
    for each in arrivals:
        if not each.objects:
            note(f"note: {each.source}: holds no objects")
    later = [each for arrival in arrivals for each in arrival.objects]
    (cluster,) = clusters_of(objects, [controllers], now=loop.utc_now, later=later, kube_version=options.kube_version)
    clusters = dict.fromkeys(Cluster, cluster)
    simulation = TimedSimulation(
        loop,
        clusters,
        controllers,
        options.length,
        seed=options.seed,
        arrivals=arrivals,
        namespaces=namespaces,
        charts=charts,
    )
    course = _Course(simulation, options.length)
    clockwork = _Clockwork(simulation.began, is_absolute=bool(options.start))
    lines = (_line(each, clockwork) for each in course) if options.all_lines else _folded_lines(course, clockwork)
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


def _conclude(course: _Course, clockwork: _Clockwork, explained: Callable[[Failure], str]) -> None:
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


@dataclass(slots=True)
class _Run:
    first: Happening
    times: list[datetime] = field(default_factory=list)


def _folded_lines(happenings: Iterable[_Happened], clockwork: _Clockwork) -> Iterator[str]:
    """Few lines for all that happened."""
    shown: Counter[_Shape] = Counter()
    others: dict[_Shape, list[_Run]] = {}
    for each in _runs(happenings):
        if isinstance(each, Arrived):
            yield _line(each, clockwork)
            continue
        shape = _shape(each.first)
        shown[shape] += 1
        if shown[shape] > KEYS_SHOWN and not each.first.is_failure:
            others.setdefault(shape, []).append(each)
        else:
            yield f"{_line(each.first, clockwork)}{_repetition(each.times, clockwork)}"
    for shape, runs in others.items():
        yield _counted(shape, runs, clockwork)


def _runs(happenings: Iterable[_Happened]) -> list[_Run | Arrived]:
    """What happened in the order in which it began; a run ends where something else happens to its key."""
    found: list[_Run | Arrived] = []
    open_runs: dict[tuple[str, ObjectKey], _Run] = {}
    for each in happenings:
        if isinstance(each, Arrived):
            found.append(each)
            open_runs.clear()
            continue
        place = (each.controller, each.key)
        run = open_runs.get(place)
        if run is None or _said(run.first) != _said(each):
            run = open_runs[place] = _Run(each)
            found.append(run)
        run.times.append(each.at)
    return found


def _said(happening: Happening) -> tuple[str, ...]:
    steps = (
        f"{_verb(step.action)} {printable(str(step.action.key))} ({step.action.reason})"
        + (f": refused: {printable(step.error)}" if step.error else "")
        for step in happening.steps
    )
    events = (f"{event.type} {event.reason}: {printable(event.note)}" for event in happening.events)
    return (*steps, *events, *(f"failed: {printable(str(failure))}" for failure in happening.failures))


def _shape(happening: Happening) -> _Shape:
    steps = (f"{_verb(step.action)} ({step.action.reason})" for step in happening.steps)
    return happening.controller, (*steps, *(f"{event.type} {event.reason}" for event in happening.events))


def _line(happened: _Happened, clockwork: _Clockwork) -> str:
    moment = clockwork.told(happened.at)
    if isinstance(happened, Arrived):
        problems = "".join(f"; refused: {problem}" for problem in happened.problems)
        objects = len(happened.arrival.objects)
        return f"{moment}  applied {happened.arrival.source}: {objects} object{'s' * (objects != 1)}{problems}"
    return f"{moment}  {happened.controller}  {printable(str(happened.key))}  {'; '.join(_said(happened))}"


def _repetition(times: Sequence[datetime], clockwork: _Clockwork) -> str:
    if len(times) == 1:
        return ""
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    spelt = dict.fromkeys((_spelt(min(gaps)), _spelt(max(gaps))))
    return f"  [{len(times)} times until {clockwork.told(times[-1]).strip()}, every {' to '.join(spelt)}]"


def _counted(shape: _Shape, runs: Sequence[_Run], clockwork: _Clockwork) -> str:
    controller, steps = shape
    keys, times = len({run.first.key for run in runs}), sorted(time for run in runs for time in run.times)
    until = f"  [{len(times)} times until {clockwork.told(times[-1]).strip()}]" if len(times) > keys else ""
    return f"{clockwork.told(times[0])}  {controller}  {keys} more keys  {'; '.join(steps)}{until}"


def _verb(action: Action) -> str:
    part = "" if isinstance(action, Delete) or not action.subresource else f"/{action.subresource}"
    return f"{verb_of(action)} {action.resource.kind}{part}"


def _spelt(span: timedelta) -> str:
    second = timedelta(seconds=1)
    return format_duration(span // second * second if span >= second else span)
