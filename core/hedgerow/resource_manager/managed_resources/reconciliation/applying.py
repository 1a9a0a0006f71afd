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
from hedgerow.resource_manager.managed_resources.reconciliation.contesting import contested_events
from hedgerow.resource_manager.managed_resources.reconciliation.instructing import instructions, scaled
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.live import Live, Unanswered, live
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Remembered
from hedgerow.resource_manager.managed_resources.reconciliation.object_application import (
    Candidate,
    Done,
    Fails,
    applied,
)
from hedgerow.resource_manager.managed_resources.reconciliation.refusals import exists_already
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, not_found_out, trouble


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far the objects have come, up to the first that fails."""

    done: tuple[Remembered, ...]
    questions: tuple[Question, ...]
    actions: tuple[Action, ...]
    failure: str | None = None
    unanswered: str | None = None
    """What could not be found out first; after it, only what is done already counts."""


def apply(stage: Stage) -> Stage | Plan:
    """All objects are as they should be."""
    autoscaled = scaled(stage)
    if isinstance(autoscaled, tuple):
        return Plan(questions=autoscaled)
    if isinstance(autoscaled, Unanswered):
        return not_found_out(stage, autoscaled.text, attempted(stage))
    if isinstance(autoscaled, Failure):
        return _failed(stage, autoscaled.failure())
    return _applied(stage, autoscaled.unwrap())


def _applied(stage: Stage, autoscaled: ScaledObjects) -> Stage | Plan:
    progress = _progress(stage, autoscaled)
    if progress.questions:
        return Plan(questions=progress.questions)
    if progress.actions:
        return Plan(progress.actions, contested_events(stage, progress.actions), in_order=True, goes_on=True)
    stage = replace(stage, applied=progress.done)
    if progress.unanswered is not None:
        return not_found_out(stage, progress.unanswered, attempted(stage))
    return stage if progress.failure is None else _failed(stage, progress.failure)


def _failed(stage: Stage, text: str) -> Plan:
    return trouble(stage, APPLY_FAILED, text, f"could not apply all new resources: {text}", attempted(stage))


def _progress(stage: Stage, autoscaled: ScaledObjects) -> _Progress:
    looks_first = _has_met_existing_objects(stage)
    done: list[Remembered] = []
    questions: list[Question] = []
    actions: list[Action] = []
    unanswered: str | None = None
    for candidate in _candidates(stage, autoscaled):
        match applied(stage, candidate, looks_first=looks_first):
            case Done(remembered):
                done += () if remembered is None else (remembered,)
            case Unanswered(text):
                unanswered = unanswered or text
            case _ if unanswered is not None:
                continue
            case Fails(text):
                return _Progress(tuple(done), tuple(questions), tuple(actions), text)
            case ObjectQuestion() as question:
                questions.append(question)
            case action:
                actions.append(action)
    return _Progress(tuple(done), tuple(questions), tuple(actions), unanswered=unanswered)


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
    """Whether a creation was refused because there is such an object, or for another reason, and there is one."""
    return any(
        exists_already(each.refusal) or _was_found(stage, each.action)
        for each in stage.context.outcomes
        if isinstance(each.action, Create) and each.refusal is not None
    )


def _was_found(stage: Stage, action: Action) -> bool:
    look = live(stage, action.resource, action.key)
    return isinstance(look, Live) and look.manifest is not None
