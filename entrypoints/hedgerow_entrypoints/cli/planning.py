"""What controllers would do: each decides about each of its keys, in a world that is thrown away or only imagined."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller, all_keys, owned_objects, primary_object
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, is_terminating
from hedgerow.machinery.plan import Action, Delete, WriteResult, only_asks
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.simulation import DecidedStep, Surroundings, decided
from hedgerow_entrypoints.cli.rendering import Planned
from hedgerow_entrypoints.components.registry import NO_REMARKS, Remarks
from hedgerow_entrypoints.errors import note

MOST_TURNS: Final = 10
"""Looks at one key; after that it is taken for one that never comes to rest."""
_NOT_FOUND: Final = NotAnswered(404, "NotFound", "not found")


class Planner(Protocol):
    """A controller before its world."""

    @property
    def controller(self) -> Controller[Any]:
        """Who decides."""
        ...

    @property
    def snapshot(self) -> StoreSnapshot:
        """What the controller sees."""
        ...

    @property
    def remarks(self) -> Remarks:
        """What is said about its objects beside the plan."""
        ...

    def planned(self, key: ObjectKey, now: datetime) -> tuple[list[DecidedStep], Sequence[Failure]]:
        """Everything that is done about a key until nothing is left to do, but to wait for others."""
        ...

    def primary_object(self, key: ObjectKey) -> Manifest | None:
        """The whole object that a key names, as it would be by now."""
        ...


@dataclass(frozen=True, slots=True)
class Situation:
    """A controller before a world that is only read."""

    controller: Controller[Any]
    """As one that declares to watch what it follows, as far as the snapshot shows that."""
    snapshot: StoreSnapshot
    surroundings: Surroundings
    remarks: Remarks = NO_REMARKS
    """What is said about its objects beside the plan."""

    def planned(self, key: ObjectKey, now: datetime) -> tuple[list[DecidedStep], Sequence[Failure]]:
        """Everything that is done about a key until nothing is left to do, but to wait for others.

        A turn after which the key wants to be looked at again is followed by that look, as if its writes had taken
        effect.
        """
        steps = list[DecidedStep]()
        failures: Sequence[Failure] = ()
        for _ in range(MOST_TURNS):
            decision = decided(self.controller, key, self.snapshot, now, self.surroundings)
            done = [step for step in decision.steps if step.error is None]
            steps += done
            failures = decision.plan.failures
            wants_another = decision.plan.requeue_after is not None or any(failure.retryable for failure in failures)
            is_at_rest = all(only_asks(step.action) for step in done)
            if self.controller.periodic or is_at_rest or not wants_another:
                return steps, failures
            refused = self.carry_out(done)
            if refused:
                return steps, (*failures, *refused)
        return steps, failures

    def primary_object(self, key: ObjectKey) -> Manifest | None:
        """The whole object that a key names, as it would be by now."""
        question = ObjectQuestion(self.controller.primary, key, self.controller.primary_cluster)
        answer = self.surroundings.answer(question)
        return answer.objects[0] if isinstance(answer, Found) else None

    def carry_out(self, steps: Sequence[DecidedStep]) -> list[Failure]:
        """Let the steps of a turn take effect as far as they have not yet, and be seen; what is refused is told."""
        refused = []
        for step in steps:
            action = step.action
            refusal = self.surroundings.carry_out(action).error if step.is_last else None
            if refusal is not None:
                refused.append(Failure(action.resource, action.key, Problem("", f"is refused: {refusal.message}")))
        for step in steps:
            self._see(step.action)
        return refused

    def _see(self, action: Action) -> None:
        """Have the snapshot show what has become of an object, if the controller watches it."""
        for watch in self.controller.watches:
            if (watch.cluster, watch.resource) != (action.cluster, action.resource):
                continue
            store = self.snapshot.store(action.resource, action.cluster)
            answer = self.surroundings.answer(subject_of(action))
            if isinstance(answer, Found):
                store.put(watch.transform(answer.objects[0]))
            else:
                store.remove(action.key)


class AsWatched:
    """Surroundings that show a controller what it writes as it watches it, so that nobody has to be asked again.

    What is watched may be less than the whole object; it is all that the controller has to do with.
    """

    def __init__(self, beyond: Surroundings, controller: Controller[Any], snapshot: StoreSnapshot) -> None:
        """Nothing has been written yet.

        Args:
            beyond: where everything else is found out, and where writes go.
            controller: who watches.
            snapshot: what it sees.
        """
        self._beyond = beyond
        self._snapshot = snapshot
        self._shown = {(controller.primary_cluster, controller.primary)} if not controller.periodic else set()
        if controller.owned is not None:
            self._shown.add((controller.owned.cluster, controller.owned.resource))
        self._written: set[Question] = set()

    def answer(self, question: Question) -> Answer:
        """What there is, everything included that was carried out."""
        if not isinstance(question, ObjectQuestion) or question in self._written:
            return self._beyond.answer(question)
        if (question.cluster, question.resource) not in self._shown:
            return self._beyond.answer(question)
        kept = self._snapshot.get(question.resource, question.key, question.cluster)
        return Found((typed(kept, question.resource),)) if kept is not None else _NOT_FOUND

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind."""
        return self._beyond.look_up(kind, cluster)

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action."""
        outcome = self._beyond.carry_out(action)
        if outcome.error is None:
            self._written.add(subject_of(action))
        return outcome


def typed(kept: Manifest, resource: Resource) -> Manifest:
    """An object with the type that caches leave out."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **kept}


def planned_in(situations: Sequence[Planner], now: datetime) -> tuple[list[Planned], list[Failure]]:
    """What controllers would do, in order, and what they could not plan.

    Args:
        situations: each controller before its world.
        now: the time at which all of it would happen.
    """
    planned: list[Planned] = []
    failures: list[Failure] = []
    for situation in situations:
        controller, snapshot = situation.controller, situation.snapshot
        for remark in situation.remarks.notes(controller, snapshot):
            note(f"note: {remark}")
        owners: dict[ObjectQuestion, list[str]] = {}
        owned, deletions = len(owned_objects(controller, snapshot)), 0
        for key in all_keys(controller, snapshot):
            owner_goes = _owner_goes(controller, snapshot, key)
            steps, failed = situation.planned(key, now)
            planned += _net(controller.name, steps)
            failures += failed or _to_correct(situation, key)
            for subject in dict.fromkeys(subject_of(step.action) for step in steps if not only_asks(step.action)):
                owners.setdefault(subject, []).append(f"{controller.primary.kind} {key}")
            deletions += 0 if owner_goes else sum(isinstance(step.action, Delete) for step in steps)
        failures += _disputes(owners)
        _warn_of_mass_deletion(controller, owned, deletions)
    return planned, failures


def _to_correct(situation: Planner, key: ObjectKey) -> Iterator[Failure]:
    """What the object of a key says, or would say, that its author has to correct."""
    controller, failures = situation.controller, situation.remarks.failures
    if failures is None:
        return
    if (found := situation.primary_object(key)) is not None:
        yield from failures(controller, found)


def _net(controller: str, steps: Iterable[DecidedStep]) -> Iterable[Planned]:
    """What steps come to; changes of an object that follow each other are told as one, where the last one is.

    So is its creation with changes that follow.
    """
    planned: dict[int, Planned] = {}
    last: dict[ObjectQuestion, int] = {}
    for number, step in enumerate(steps):
        each, subject = Planned.of(controller, step.action, step.before), subject_of(step.action)
        if only_asks(step.action):
            planned[number] = each
            continue
        earlier = last.get(subject)
        if earlier is not None and each.verb == "change" and planned[earlier].verb != "delete":
            each = planned.pop(earlier).then(each)
        planned[number], last[subject] = each, number
    return planned.values()


def subject_of(action: Action) -> ObjectQuestion:
    """The object that an action concerns."""
    return ObjectQuestion(action.resource, action.key, action.cluster)


def _disputes(owners: Mapping[ObjectQuestion, Sequence[str]]) -> Iterator[Failure]:
    """A failure for each object that several want to be as they say: only one of them can have it.

    Args:
        owners: whose plans concern an object, all of one controller: several may each look after a part of an object.
    """
    for subject, names in owners.items():
        if len(names) > 1:
            problem = f"is planned for by {', '.join(names[:-1])} and {names[-1]}, of which only one can have it"
            yield Failure(subject.resource, subject.key, Problem("", problem))


def _owner_goes(controller: Controller[Any], snapshot: StoreSnapshot, key: ObjectKey) -> bool:
    owner = primary_object(controller, snapshot, key)
    return owner is not None and is_terminating(owner)


def _warn_of_mass_deletion(controller: Controller[Any], owned: int, deletions: int) -> None:
    """Say what a controller would do that starts in this world, and has seen none of its owners go or change."""
    if controller.owned is None:
        return
    if judge_deletions(deletions, owned, confirmed=True) is Verdict.STOP:
        consequence = "one that starts here refuses to delete so many"
    elif judge_deletions(deletions, owned, confirmed=False) is Verdict.CONFIRM:
        consequence = "one that starts here wants a second, fresh list first"
    else:
        return
    note(f"warning: {controller.name} would delete {deletions} of the {owned} objects that it owns; {consequence}")
