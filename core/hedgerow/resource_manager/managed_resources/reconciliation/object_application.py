"""What is to be done about one object so that it is as it should be: mostly nothing.

Source: managed-resources §7.9, §8.6; decision "steady state".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Create, Delete, Outcome, Update
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.desired import DesiredObject
from hedgerow.resource_manager.managed_resources.following import fingerprint
from hedgerow.resource_manager.managed_resources.label_injection import with_injected_labels
from hedgerow.resource_manager.managed_resources.merge.application import (
    Application,
    CreateObject,
    LeaveObject,
    UpdateObject,
    application,
)
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, MergeFailure
from hedgerow.resource_manager.managed_resources.reconciliation.live import Live, Place, Unanswered, live
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Remembered
from hedgerow.resource_manager.managed_resources.reconciliation.refusals import (
    apply_error,
    error_text,
    has_come_too_late,
    is_worth_another_look,
    replacement,
)
from hedgerow.resource_manager.managed_resources.reconciliation.settled import is_as_it_was
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage
from hedgerow.resource_manager.managed_resources.stored.catalog import stored_rule
from hedgerow.resource_manager.managed_resources.stored.differences import Difference
from hedgerow.resource_manager.managed_resources.stored.rules import AS_SENT, Stored
from hedgerow.resource_manager.managed_resources.stored.schemas import stored_custom_resource

DEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
_NAMELESS: Final = "resource name may not be empty"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object to apply."""

    wanted: DesiredObject
    instructions: Instructions
    asked: bytes
    """Digest of all that is asked of it."""

    @property
    def text(self) -> str:
        """How messages name it."""
        return f'"{self.wanted}"'


@dataclass(frozen=True, slots=True)
class Fails:
    """The object cannot be applied."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The object is as it should be, which is remembered if there is something to recognise it by."""

    remembered: Remembered | None


Applied: TypeAlias = Done | Fails | Unanswered | ObjectQuestion | Create | Update | Delete
"""How it stands with an object; or what has to be asked, or done."""


def applied(stage: Stage, candidate: Candidate, *, looks_first: bool) -> Applied:
    """How it stands with an object.

    Args:
        stage: what is known.
        candidate: the object.
        looks_first: whether an object is looked at before it is created, even if it was not applied before.
    """
    resource, key = candidate.wanted.resource, key_of(candidate.wanted.manifest)
    problem = candidate.wanted.problem or (None if key.name else _NAMELESS)
    if problem is not None:
        return Fails(apply_error(candidate.text, problem))
    if isinstance(resource, NotAnswered):
        return _problem_with(candidate, resource)
    return _application_at(stage, candidate, Place(resource, key), looks_first=looks_first)


def _application_at(stage: Stage, candidate: Candidate, place: Place, *, looks_first: bool) -> Applied:
    resource, key = place
    if remembered := _remembered(stage, candidate):
        return Done(remembered)
    if writes := stage.writes_of(resource, key):
        return _followed_up(stage, candidate, resource, writes)
    if not looks_first and not _is_known(stage, candidate):
        return _decided(stage, candidate, resource, Live(None))
    return _looked_at(stage, candidate, resource, key)


def _is_known(stage: Stage, candidate: Candidate) -> bool:
    """Whether the object was there once; the status tells of none as long as another one fails."""
    wanted = candidate.wanted
    return wanted.known or (stage.memory is not None and wanted.identity in stage.memory.objects)


def _followed_up(stage: Stage, candidate: Candidate, resource: Resource, writes: Sequence[Outcome]) -> Applied:
    """How it stands with an object that this turn has written to."""
    last = writes[-1]
    if last.refusal is None and isinstance(last.action, Create | Update):
        return _written(stage, candidate, resource, last.stored)
    if is_worth_another_look(writes):
        return _looked_at_again(stage, candidate, resource, writes)
    return replacement(last) or Fails(error_text(writes, candidate.text))


def _remembered(stage: Stage, candidate: Candidate) -> Remembered | None:
    """What is remembered of an object that is still as it was, and of which nothing else is asked."""
    remembered = _recalled(stage, candidate)
    if remembered is None or stage.config.always_update or not is_as_it_was(stage, remembered):
        return None
    return None if stage.writes_of(remembered.resource, remembered.key) else remembered


def _recalled(stage: Stage, candidate: Candidate) -> Remembered | None:
    remembered = stage.memory.objects.get(candidate.wanted.identity) if stage.memory is not None else None
    if remembered is None or not candidate.asked or remembered.asked != candidate.asked:
        return None
    place = (candidate.wanted.resource, key_of(candidate.wanted.manifest))
    return remembered if (remembered.resource, remembered.key) == place else None


def _looked_at(stage: Stage, candidate: Candidate, resource: Resource, key: ObjectKey) -> Applied:
    match live(stage, resource, key):
        case ObjectQuestion() as question:
            return question
        case NotAnswered() as problem:
            return _problem_with(candidate, problem)
        case Live() as known:
            return _decided(stage, candidate, resource, known)


def _looked_at_again(stage: Stage, candidate: Candidate, resource: Resource, writes: Sequence[Outcome]) -> Applied:
    """After a refusal, what was known before counts no longer. Where the object is not there, the refusal stands."""
    match live(stage, resource, key_of(candidate.wanted.manifest)):
        case ObjectQuestion() as question:
            return question
        case Live(manifest) as known if manifest is not None or has_come_too_late(writes[-1]):
            return _decided(stage, candidate, resource, known)
        case NotAnswered(is_silence=True) as problem:
            return _problem_with(candidate, problem)
        case _:
            return Fails(error_text(writes, candidate.text))


def _problem_with(candidate: Candidate, problem: NotAnswered) -> Fails | Unanswered:
    text = apply_error(candidate.text, problem.message)
    return Unanswered(text) if problem.is_silence else Fails(text)


def _decided(stage: Stage, candidate: Candidate, resource: Resource, known: Live) -> Applied:
    """What to write, given the live object."""
    rule = _rule(stage, candidate, resource)
    result = _application(stage, candidate, known, rule if isinstance(rule, Stored) else None)
    if isinstance(result, Failure):
        return Fails(apply_error(candidate.text, _problem(candidate, result.failure())))
    recalled = _recalled(stage, candidate)
    settled = recalled.settled if recalled is not None else ()
    match result.unwrap():
        case CreateObject(manifest):
            return Create(resource, manifest, "missing")
        case LeaveObject():
            return _done(stage, candidate, resource, known.manifest, ())
        case UpdateObject(_, because) if because and because == settled and not stage.config.always_update:
            return _done(stage, candidate, resource, known.manifest, settled)
        case UpdateObject() if isinstance(rule, ObjectQuestion):
            return rule
        case UpdateObject(manifest):
            return Update(resource, manifest, "differs")


def _application(
    stage: Stage, candidate: Candidate, known: Live, rule: Stored | None
) -> Result[Application, MergeFailure]:
    wanted, always = candidate.wanted, stage.config.always_update

    def compute() -> Result[Application, MergeFailure]:
        return application(wanted.manifest, known.manifest, candidate.instructions, rule=rule, always_update=always)

    inputs = (wanted, known.manifest, candidate.instructions, rule)
    return stage.context.notes.once(("application", wanted.identity), inputs, compute)


def _problem(candidate: Candidate, failure: MergeFailure) -> str:
    """The problem, and that it is the injection of labels that has it, if so."""
    try:
        with_injected_labels(candidate.wanted.manifest, candidate.instructions.labels)
    except UnreadableError as error:
        if str(error) == failure.problem:
            return f"error injecting labels into object {candidate.text}: {failure}"
    return failure.problem


def _rule(stage: Stage, candidate: Candidate, resource: Resource) -> Stored | ObjectQuestion | None:
    """How custom resources of a kind are stored, as their definition tells; none: nobody tells."""
    if "." not in resource.group or stored_rule(candidate.wanted.manifest) is not AS_SENT:
        return None
    name = f"{resource.plural}.{resource.group}"
    question = ObjectQuestion(DEFINITIONS, ObjectKey("", name), Cluster.TARGET)
    answer = stage.context.answers.get(question)
    if not isinstance(answer, Found):
        return question if answer is None else None
    definition = answer.objects[0]
    return stage.context.notes.once(
        ("rule", resource), (definition,), lambda: stored_custom_resource(definition, resource.version)
    )


def _written(stage: Stage, candidate: Candidate, resource: Resource, stored: Manifest | None) -> Done:
    """An object that was written is as it should be: what the server has made otherwise it would make so again."""
    rule = _rule(stage, candidate, resource)
    result = _application(stage, candidate, Live(stored), rule if isinstance(rule, Stored) else None)
    found = result.unwrap() if isinstance(result, Success) else None
    return _done(stage, candidate, resource, stored, found.because if isinstance(found, UpdateObject) else ())


def _done(
    stage: Stage, candidate: Candidate, resource: Resource, known: Manifest | None, settled: tuple[Difference, ...]
) -> Done:
    if known is None:
        return Done(None)
    key = key_of(candidate.wanted.manifest)
    identity, scaling, now = candidate.wanted.identity, candidate.instructions.scaling, stage.context.now
    return Done(Remembered(identity, resource, key, candidate.asked, fingerprint(known), now, settled, scaling))
