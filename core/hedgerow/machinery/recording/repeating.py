"""Repeats recorded decisions, and tells which of them come out otherwise.

A turn is repeated from its first stage on, as later stages tell only what is new. The file is read once, from its
beginning, and no more is kept of it than the turns under way and what each key was told to remember.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.notes import Notes
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Outcome
from hedgerow.machinery.questions import Answer, Question
from hedgerow.machinery.recording.codec import UnrecordableError
from hedgerow.machinery.recording.decisions import Decision, Unreadable, Unrecorded
from hedgerow.machinery.recording.plans import comparable, differences
from hedgerow.machinery.recording.reads import NotReadError, RecordedSnapshot


@dataclass(frozen=True, slots=True)
class Difference:
    """A decision that comes out otherwise than was recorded."""

    decision: Decision | Unreadable
    summary: str
    """One clause: in what."""
    lines: Sequence[str] = ()
    """The plans compared."""


@dataclass
class _Course:
    """A turn under way."""

    number: int
    memory: object
    is_broken: bool = False
    """Whether something of it is missing, so that it cannot be repeated any further."""
    notes: Notes = field(default_factory=Notes)
    answers: dict[Question, Answer] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)


class Repetition:
    """The decisions of one run, repeated in their order."""

    def __init__(self, controllers: Mapping[str, Controller[Any]]) -> None:
        """Nothing has been repeated yet.

        Args:
            controllers: who decides now, by name, configured as they were.
        """
        self.repeated = 0
        self.skipped = 0
        """Decisions that could not be recorded, and those after them in their turns."""
        self._controllers = controllers
        self._under_way: dict[tuple[str, ObjectKey], _Course] = {}
        self._told: dict[tuple[str, ObjectKey], object] = {}

    def repeat(self, entry: Decision | Unrecorded | Unreadable) -> Difference | None:
        """Make a decision again; the difference, if there is one.

        Args:
            entry: what comes next in the record.
        """
        course = self._course(entry)
        if isinstance(entry, Unreadable):
            course.is_broken = True
            return Difference(entry, entry.problem)
        if isinstance(entry, Unrecorded) or course.is_broken:
            course.is_broken = True
            self.skipped += 1
            return None
        return self._compared(entry, course)

    def _course(self, entry: Decision | Unrecorded | Unreadable) -> _Course:
        place = (entry.controller, entry.key)
        course = self._under_way.get(place)
        if course is not None and course.number == entry.turn:
            return course
        course = self._under_way[place] = _Course(entry.turn, None)
        if self._begins(entry):
            course.memory = self._told[place] if entry.remembers_as_before else entry.memory
            self._told[place] = course.memory
        else:
            course.is_broken = True
            self._told.pop(place, None)
        return course

    def _begins(self, entry: Decision | Unrecorded | Unreadable) -> TypeGuard[Decision]:
        """Whether a turn can be repeated from here on: from its first stage, and with all that it was told."""
        if not isinstance(entry, Decision) or entry.stage > 0:
            return False
        return not entry.remembers_as_before or (entry.controller, entry.key) in self._told

    def _compared(self, decision: Decision, course: _Course) -> Difference | None:
        course.answers.update(decision.answers)
        course.outcomes += decision.outcomes
        self.repeated += 1
        controller = self._controllers.get(decision.controller)
        if controller is None:
            return Difference(decision, "no controller of this name runs with that configuration")
        context = Context(
            decision.now,
            controller.config,
            course.answers,
            decision.kinds,
            tuple(course.outcomes),
            course.memory,
            course.notes,
            decision.jitter,
        )
        return _difference(controller, decision, context)


def _difference(controller: Controller[Any], decision: Decision, context: Context[Any]) -> Difference | None:
    try:
        plan = controller.reconcile(decision.key, RecordedSnapshot(decision.reads), context)
        repeated = comparable(plan)
    except NotReadError as error:
        return Difference(decision, str(error))
    except UnrecordableError as error:
        return Difference(decision, f"comes to a plan that cannot be compared: {error}")
    except Exception as error:  # noqa: BLE001 -- a defect of the decision is a difference, and others are to be compared
        raised = type(error).__name__
        return None if raised == decision.raised else Difference(decision, f"raises {raised}: {error}")
    if decision.raised:
        return Difference(decision, f"has a plan and raised {decision.raised} then", differences(None, repeated))
    lines = differences(decision.plan, repeated)
    return Difference(decision, "has another plan", lines) if lines or decision.plan != repeated else None
