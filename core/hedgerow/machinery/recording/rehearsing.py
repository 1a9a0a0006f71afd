"""Makes a decision a second time, by what a record may show, so that the record can be repeated exactly.

A decision by what is disguised may be another one: a checksum is of other bytes. So what is recorded as decided is what
the disguised world leads to, and whoever repeats it in that world comes to the same unless the decision itself has
changed. Where the process has decided something else, an outline of that is recorded as well. What one turn leaves to
the next is of the disguised world, too: nothing in the record comes of anything that it must not show, but for that
outline.

Of a turn nothing is kept once it is over, and of a key only what the next turn is to be told.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

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
    disguise: Disguise
    memory: object
    notes: Notes = field(default_factory=Notes)
    answers: dict[Question, Answer] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    memory_is_told: bool = False
    is_broken: bool = False
    """Whether the record lacks a decision of it, so that nobody can repeat it any further."""


class Rehearsals:
    """The decisions of a run, made again one after the other."""

    def __init__(self, wardrobe: Wardrobe) -> None:
        """Nothing has been decided yet.

        Args:
            wardrobe: what the record shows of things.
        """
        self._wardrobe = wardrobe
        self._turns = 0
        self._under_way: WeakKeyDictionary[Notes, _Course] = WeakKeyDictionary()
        """By the notes of the process: they are those of one turn, and gone with it."""
        self._left: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key wants the next one to be told."""
        self._told: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key was told, if whoever repeats the record knows that as well."""

    def rehearsed(
        self, turn: Turn[Any], snapshot: Snapshot, now: datetime, known: Kinds, plan: Plan | None
    ) -> str | Unrecorded:
        """The line that records a decision, or why there is none.

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
            line = json.dumps(self._decision(place, course, turn, _Scene(snapshot, now, known, plan)).to_json())
        except UnrecordableError as error:
            return self._unrecorded(place, course, str(error))
        except RecursionError:
            return self._unrecorded(place, course, "something in it is nested too deeply")
        except Exception as error:  # noqa: BLE001 -- a defect of the record must not stop the process
            # What it says may show what nobody may read.
            return self._unrecorded(place, course, f"defect: {type(error).__name__}")
        self._note_told(place, course, is_over=plan is not None and plan.is_final)
        return line

    def _note_told(self, place: tuple[str, ObjectKey], course: _Course, *, is_over: bool) -> None:
        """Know for the next turn what this one was told, if there is anything that it can be told again."""
        if course.is_broken or course.memory is None or (is_over and place not in self._left):
            self._told.pop(place, None)
        else:
            self._told[place] = course.memory

    def _unrecorded(self, place: tuple[str, ObjectKey], course: _Course, problem: str) -> Unrecorded:
        """A gap in the record: what the turn was told cannot be taken as known afterwards."""
        course.is_broken = True
        self._told.pop(place, None)
        return Unrecorded(*place, course.number, problem)

    def _course(self, place: tuple[str, ObjectKey], turn: Turn[Any]) -> _Course:
        course = self._under_way.get(turn.notes)
        if course is None:
            self._turns += 1
            left = self._left.pop(place, None)
            memory = left if turn.memory is not None else None
            course = self._under_way[turn.notes] = _Course(self._turns, self._wardrobe.disguise(), memory)
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
        self._conclude(place, scene.plan, repeated)
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
        return decision

    def _conclude(self, place: tuple[str, ObjectKey], plan: Plan | None, repeated: Plan | None) -> None:
        """Keep for the next turn what this one leaves."""
        if plan is None or not plan.is_final:
            return
        self._left.pop(place, None)
        if plan.memory is None or repeated is None or not repeated.is_final or repeated.memory is None:
            return
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
