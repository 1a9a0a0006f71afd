"""Makes a decision a second time, by what a record may show, so that the record can be repeated exactly.

A decision by what is disguised may be another one: a checksum is of other bytes. So what is recorded as decided is what
the disguised world leads to, and whoever repeats it in that world comes to the same unless the decision itself has
changed. Where the process has decided something else, an outline of that is recorded as well. What one turn leaves to
the next is of the disguised world, too: nothing in the record comes of anything that it must not show, but for that
outline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hedgerow.machinery.controller import Context
from hedgerow.machinery.notes import Notes
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Outcome, Plan
from hedgerow.machinery.questions import Answer, Kinds, Question
from hedgerow.machinery.recording.codec import UnrecordableError
from hedgerow.machinery.recording.confidential import Disguise, Wardrobe
from hedgerow.machinery.recording.decisions import Decision, Unrecorded
from hedgerow.machinery.recording.plans import comparable, outline
from hedgerow.machinery.recording.reads import NotingMapping, NotingSnapshot
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.turn import Turn


@dataclass
class _Course:
    """A turn under way, as the record shows it."""

    number: int
    original: Notes
    """By which the turn is recognised."""
    disguise: Disguise
    memory: object
    notes: Notes = field(default_factory=Notes)
    answers: dict[Question, Answer] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    memory_is_told: bool = False


class Rehearsals:
    """The decisions of a run, made again one after the other."""

    def __init__(self, wardrobe: Wardrobe) -> None:
        """Nothing has been decided yet.

        Args:
            wardrobe: what the record shows of things.
        """
        self._wardrobe = wardrobe
        self._turns = 0
        self._under_way: dict[tuple[str, ObjectKey], _Course] = {}
        self._left: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key wants the next one to be told."""
        self._told: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key was told, and was recorded of that."""

    def rehearsed(
        self, turn: Turn[Any], snapshot: Snapshot, now: datetime, known: Kinds, plan: Plan | None
    ) -> Decision | Unrecorded:
        """A decision as it is recorded.

        Args:
            turn: as it was when the decision was made.
            snapshot: what it was made from.
            now: as above.
            known: as above.
            plan: what the process is to do; none: the decision raised.
        """
        place = (turn.controller.name, turn.key)
        course = self._course(place, turn)
        try:
            return self._decision(place, course, turn, _Scene(snapshot, now, known, plan))
        except UnrecordableError as error:
            return Unrecorded(*place, course.number, str(error))
        except Exception as error:  # noqa: BLE001 -- a defect of the record must not stop the process
            # What it says may show what nobody may read.
            return Unrecorded(*place, course.number, f"defect: {type(error).__name__}")

    def _course(self, place: tuple[str, ObjectKey], turn: Turn[Any]) -> _Course:
        course = self._under_way.get(place)
        if course is None or course.original is not turn.notes:
            self._turns += 1
            memory = self._left.pop(place, None) if turn.memory is not None else None
            course = _Course(self._turns, turn.notes, self._wardrobe.disguise(), memory)
            self._under_way[place] = course
        return course

    def _decision(self, place: tuple[str, ObjectKey], course: _Course, turn: Turn[Any], scene: "_Scene") -> Decision:
        answers, outcomes = _news(course, turn)
        world = NotingSnapshot(scene.snapshot, course.disguise.object)
        kinds = NotingMapping({**turn.kinds, **scene.known})
        context = Context(
            scene.now,
            turn.controller.config,
            course.answers,
            kinds,
            tuple(course.outcomes),
            course.memory,
            course.notes,
            turn.jitter,
        )
        repeated, raised = _decided(turn, world, context)
        is_new = not course.memory_is_told
        as_before = is_new and course.memory is not None and self._told.get(place) is course.memory
        decision = Decision(
            controller=turn.controller.name,
            key=turn.key,
            turn=course.number,
            stage=turn.stages,
            now=scene.now,
            jitter=turn.jitter,
            reads=world.reads,
            kinds=kinds.found,
            answers=answers,
            outcomes=outcomes,
            memory=course.memory if is_new and not as_before else None,
            remembers_as_before=as_before,
            plan=None if repeated is None else comparable(repeated),
            raised=raised,
            acted=_otherwise(scene.plan, repeated),
        )
        course.memory_is_told = True
        self._told[place] = course.memory
        self._conclude(place, scene.plan, repeated)
        return decision

    def _conclude(self, place: tuple[str, ObjectKey], plan: Plan | None, repeated: Plan | None) -> None:
        """Keep for the next turn what this one leaves."""
        if plan is None or not plan.is_final:
            return
        self._left.pop(place, None)
        if repeated is not None and repeated.is_final and repeated.memory is not None:
            self._left[place] = repeated.memory


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a decision was made from beside its turn, and what the process has decided."""

    snapshot: Snapshot
    now: datetime
    known: Kinds
    plan: Plan | None


def _news(course: _Course, turn: Turn[Any]) -> tuple[dict[Question, Answer], Sequence[Outcome]]:
    """What a turn has been told since it was looked at last, and the course is told by this."""
    answers = {
        question: course.disguise.answer(question, answer)
        for question, answer in turn.answers.items()
        if question not in course.answers
    }
    outcomes = [course.disguise.outcome(each) for each in turn.outcomes[len(course.outcomes) :]]
    course.answers.update(answers)
    course.outcomes += outcomes
    return answers, outcomes


def _decided(turn: Turn[Any], world: Snapshot, context: Context[Any]) -> tuple[Plan | None, str]:
    """The plan of a decision, or the name of what it raised."""
    try:
        return turn.controller.reconcile(turn.key, world, context), ""
    except Exception as error:  # noqa: BLE001 -- a defect is what is worth a record
        return None, type(error).__name__


def _otherwise(plan: Plan | None, repeated: Plan | None) -> Sequence[str] | None:
    """What the process does, where that is not what is recorded as decided."""
    really = outline(plan) if plan is not None else ["raised"]
    recorded = outline(repeated) if repeated is not None else ["raised"]
    return None if sorted(really) == sorted(recorded) else really
