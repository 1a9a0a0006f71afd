"""What happens in the course of time, as lines for people: what happens to a key again and again is one of them.

A line holds when something happened, to which key of which controller, and what. Where the same happens to a key
several times without anything else between, the line of the first time says how often, until when, and how much time
lay between. What runs alike at many keys is shown of the first ones, and counted of the others.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Action, Delete
from hedgerow.machinery.scalars import format_duration, format_timestamp
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.simulation.clusters import Happening
from hedgerow_adapters.simulation.planning import Arrived
from hedgerow_entrypoints.cli.rendering import verb_of

KEYS_SHOWN: Final = 5
"""Of so many keys the runs are shown, where those of more are alike."""
_Happened: TypeAlias = Happening | Arrived
_Shape: TypeAlias = tuple[str, tuple[str, ...]]
"""The controller, and what was done to what kinds of objects."""


@dataclass(frozen=True, slots=True)
class Clockwork:
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


@dataclass(slots=True)
class _Run:
    first: Happening
    times: list[datetime] = field(default_factory=list)


def every_line(happenings: Iterable[_Happened], clockwork: Clockwork) -> Iterator[str]:
    """A line for everything that happened."""
    return (_line(each, clockwork) for each in happenings)


def folded_lines(happenings: Iterable[_Happened], clockwork: Clockwork) -> Iterator[str]:
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


def _line(happened: _Happened, clockwork: Clockwork) -> str:
    time = clockwork.told(happened.at)
    if isinstance(happened, Arrived):
        problems = "".join(f"; refused: {problem}" for problem in happened.problems)
        objects = len(happened.arrival.objects)
        return f"{time}  applied {happened.arrival.source}: {objects} object{'s' * (objects != 1)}{problems}"
    return f"{time}  {happened.controller}  {printable(str(happened.key))}  {'; '.join(_said(happened))}"


def _repetition(times: Sequence[datetime], clockwork: Clockwork) -> str:
    if len(times) == 1:
        return ""
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    spelt = dict.fromkeys((_spelt(min(gaps)), _spelt(max(gaps))))
    return f"  [{len(times)} times until {clockwork.told(times[-1]).strip()}, every {' to '.join(spelt)}]"


def _counted(shape: _Shape, runs: Sequence[_Run], clockwork: Clockwork) -> str:
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
