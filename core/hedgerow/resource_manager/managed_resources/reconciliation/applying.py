"""That the objects in the Secrets exist and are as they should be, one after the other, up to the first that fails.

What this ManagedResource has not applied before is created without a look. Who is told then that it exists, looks at
everything that is left at once, so that a ManagedResource whose objects are all there is as fast as one of none.

Source: managed-resources §7.9.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from returns.result import Failure

from hedgerow.machinery.plan import Action, Create, Plan
from hedgerow.machinery.questions import ObjectQuestion, Question
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects
from hedgerow.resource_manager.managed_resources.desired import DesiredObject
from hedgerow.resource_manager.managed_resources.names import APPLY_FAILED
from hedgerow.resource_manager.managed_resources.ordering import in_install_order
from hedgerow.resource_manager.managed_resources.reconciliation.instructing import instructions, scaled
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Remembered
from hedgerow.resource_manager.managed_resources.reconciliation.object_application import (
    Candidate,
    Done,
    Fails,
    applied,
)
from hedgerow.resource_manager.managed_resources.reconciliation.refusals import exists_already
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, trouble


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far the objects have come, up to the first that fails."""

    done: tuple[Remembered, ...]
    questions: tuple[Question, ...]
    actions: tuple[Action, ...]
    failure: str | None


def apply(stage: Stage) -> Stage | Plan:
    """All objects are as they should be."""
    autoscaled = scaled(stage)
    if isinstance(autoscaled, Failure):
        return _failed(stage, autoscaled.failure())
    progress = _progress(stage, autoscaled.unwrap())
    if progress.questions:
        return Plan(questions=progress.questions)
    if progress.actions:
        return Plan(progress.actions, in_order=True, goes_on=True)
    stage = replace(stage, applied=progress.done)
    return stage if progress.failure is None else _failed(stage, progress.failure)


def _failed(stage: Stage, text: str) -> Plan:
    return trouble(stage, APPLY_FAILED, text, f"could not apply all new resources: {text}", attempted(stage))


def _progress(stage: Stage, autoscaled: ScaledObjects) -> _Progress:
    looks_first = _has_met_existing_objects(stage)
    done: list[Remembered] = []
    questions: list[Question] = []
    actions: list[Action] = []
    for candidate in _candidates(stage, autoscaled):
        match applied(stage, candidate, looks_first=looks_first):
            case Fails(text):
                return _Progress(tuple(done), tuple(questions), tuple(actions), text)
            case Done(remembered):
                done += () if remembered is None else (remembered,)
            case ObjectQuestion() as question:
                questions.append(question)
            case action:
                actions.append(action)
    return _Progress(tuple(done), tuple(questions), tuple(actions), None)


def _candidates(stage: Stage, autoscaled: ScaledObjects) -> Iterator[Candidate]:
    told = instructions(stage, autoscaled)
    for place, wanted in _in_order(stage):
        yield Candidate(wanted, *told[place])


def _in_order(stage: Stage) -> list[tuple[int, DesiredObject]]:
    objects = stage.desired.objects

    def ordered() -> list[tuple[int, DesiredObject]]:
        places = {id(wanted.manifest): (place, wanted) for place, wanted in enumerate(objects)}
        return [places[id(manifest)] for manifest in in_install_order(wanted.manifest for wanted in objects)]

    return stage.context.notes.once("order", (objects,), ordered)


def _has_met_existing_objects(stage: Stage) -> bool:
    refusals = (
        outcome.refusal for outcome in stage.context.outcomes if isinstance(outcome.action, Create) and outcome.refusal
    )
    return any(exists_already(refusal) for refusal in refusals)
