"""One object on its way to be as it should be: what to read, to try and to write next.

What this ManagedResource has not applied before is created without a look.

Source: managed-resources §7.9, §8.6; decision "steady state".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from returns.result import Failure, Result

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.api.managed_objects import fingerprint
from hedgerow.api.managed_resources import is_ignored
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.budget import count_nodes
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Create, Delete, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, boolean_at
from hedgerow.resource_manager.managed_resources.autoscalers import ScaledObjects
from hedgerow.resource_manager.managed_resources.desired import NODES_OF_AN_OBJECT, DesiredObject, injected_labels
from hedgerow.resource_manager.managed_resources.equivalences import equivalences_of
from hedgerow.resource_manager.managed_resources.merge.merging import (
    Application,
    CreateObject,
    Instructions,
    UpdateObject,
    application,
    with_injected_labels,
)
from hedgerow.resource_manager.managed_resources.reconciliation.dry_runs import Verdict, is_due, verdict
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Obstacle, Reconciliation
from hedgerow.resource_manager.managed_resources.reconciliation.state import ObjectState, digest
from hedgerow.resource_manager.managed_resources.reconciliation.unchanged import is_object_unchanged
from hedgerow.resource_manager.managed_resources.reconciliation.write_errors import (
    apply_error,
    error_text,
    exists_already,
    has_come_too_late,
    is_worth_another_look,
    replacement,
)
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, StorageRule, custom_resource_rule

_NAMELESS: Final = "resource name may not be empty"

Rules: TypeAlias = Mapping[Resource, StorageRule | None]
"""How custom resources are stored, as far as their definitions were read; none: a definition does not tell."""


@dataclass(frozen=True, slots=True)
class Done:
    """The object is as it should be."""

    state: ObjectState | None
    """None: nothing identifies it."""


Write: TypeAlias = Create | Update | Delete


@dataclass(slots=True)
class ObjectApplication:
    """An object to apply, and what this reconciliation has found out and written of it."""

    mr: Reconciliation
    wanted: DesiredObject
    options: Instructions
    asked: bytes
    """Digest of all that is asked of it."""
    rules: Rules
    writes: list[WriteResult] = field(default_factory=list)
    is_read: bool = False
    """True if the object was read since the last refused write."""
    live: Manifest | None = None
    """The object as it was read; none: it does not exist, or was not read."""
    next: Done | Obstacle | Write | None = None
    """What to write next, or how the object ended up; none: not known yet."""
    dry_run: Update | None = None
    """To be made before it is known what comes next."""
    _compared: tuple[StorageRule | None, Result[Application, Problem]] | None = None

    @property
    def nodes(self) -> int:
        """To decide about it takes as long as to read so many nodes."""
        return NODES_OF_AN_OBJECT + count_nodes(self.wanted.manifest)

    @property
    def known(self) -> ObjectState | None:
        """What the last reconciliation left of it; none if something else was asked for then."""
        known = self.mr.state.objects.get(self.wanted.identity)
        if known is None or not self.asked or known.asked != self.asked:
            return None
        is_there = (known.resource, known.key) == (self.wanted.resource, key_of(self.wanted.manifest))
        return known if is_there else None

    @property
    def may_exist(self) -> bool:
        """True if it was there once, or a write has shown that there may be more than was known."""
        return self.wanted.known or self.wanted.identity in self.mr.state.objects or bool(self.writes)

    @property
    def has_met_an_existing_object(self) -> bool:
        """True if a creation was refused because the object exists, or for another reason and it exists."""
        refusals = (write.error for write in self.writes if isinstance(write.action, Create))
        return any(refusal is not None and (self.live is not None or exists_already(refusal)) for refusal in refusals)

    @property
    def write(self) -> Write | None:
        """What to write next; none: nothing, or that is not known yet."""
        return self.next if isinstance(self.next, Create | Update | Delete) else None

    @property
    def is_at_end(self) -> bool:
        """True if nothing more is to be done about it in this reconciliation."""
        return isinstance(self.next, Done | Obstacle)

    def begin(self) -> None:
        """Decide what can be decided without reading."""
        name, known = key_of(self.wanted.manifest).name, self.known
        if problem := self.wanted.problem or (None if name else _NAMELESS):
            self.next = Obstacle(apply_error(self.wanted, problem))
        elif isinstance(self.wanted.resource, NotAnswered):
            self.next = self._unread(self.wanted.resource)
        elif known is not None and not self.mr.config.always_update and is_object_unchanged(self.mr, known):
            self.next = Done(known)

    def take_answer(self, answer: Answer) -> None:
        """Note the object as it was read. If it does not exist, the refusal of its last write stands."""
        last = self.writes[-1] if self.writes else None
        is_missing = isinstance(answer, NotAnswered) and answer.is_not_found
        if (
            isinstance(answer, NotAnswered)
            and last is not None
            and not answer.is_unreachable
            and (not is_missing or not has_come_too_late(last))
        ):
            self.next = Obstacle(error_text(self.writes, self.wanted))
        elif isinstance(answer, NotAnswered) and not is_missing:
            self.next = self._unread(answer)
        else:
            self.live = answer.objects[0] if isinstance(answer, Found) else None
            self.is_read, self.next, self._compared = True, None, None

    def definition_question(self) -> ObjectQuestion | None:
        """Reads the definition of a custom resource, if the object differs and that may be due to its defaults."""
        resource = self.wanted.resource
        if (
            self.next is not None
            or isinstance(resource, NotAnswered)
            or "." not in resource.group
            or resource in self.rules
            or storage_rule(self.wanted.manifest) is not AS_SENT
        ):
            return None
        found = self._application().value_or(None)
        if not isinstance(found, UpdateObject) or self._may_be_the_servers(found.because):
            return None
        name = f"{resource.plural}.{resource.group}"
        return ObjectQuestion(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", name), Cluster.TARGET)

    def decide(self) -> None:
        """Decide what comes next, by the object as it was read, or as if it did not exist."""
        found = self._application()
        if isinstance(found, Failure):
            self.next = Obstacle(apply_error(self.wanted, self._problem(found.failure())))
            return
        match found.unwrap(), self.wanted.resource:
            case CreateObject(manifest), Resource() as resource:
                self.next = Create(resource, manifest, "missing")
            case UpdateObject(manifest, because), Resource() as resource if not self._may_be_the_servers(because):
                self.next = Update(resource, manifest, "differs")
            case UpdateObject(_, because), _:
                self._try(because)
            case _:
                self._try(())

    def take_dry_run(self, result: WriteResult) -> None:
        """Decide by the result of the dry run."""
        write, known, settled = self.dry_run, self.known, self._because()
        found = verdict(result, self.live)
        is_guess = known is None and bool(settled)
        if write is not None and (
            found is Verdict.CHANGES
            or (found is Verdict.NOT_SUPPORTED and (is_guess or self._has_another_context(known)))
            or (found is Verdict.NOT_KNOWN and is_guess)
        ):
            self.next = replace(write, dry_run=False)
        else:
            self.next = self._done(settled, is_tried=found is not Verdict.NOT_KNOWN)
        self.dry_run = None

    def take_result(self, result: WriteResult) -> None:
        """Decide by the result of a write."""
        self.writes.append(result)
        self.next = None
        if result.error is None and isinstance(result.action, Create | Update):
            self.is_read, self.live, self._compared = True, result.stored, None
            # What the server has made otherwise it would make so again.
            self.next = self._done(self._because(), is_tried=True)
        elif is_worth_another_look(self.writes):
            self.is_read, self.live = False, None
        else:
            self.next = replacement(result) or Obstacle(error_text(self.writes, self.wanted))

    def _try(self, settled: tuple[Difference, ...]) -> None:
        """Decide about a live object that differs from its manifest only as the server wants it.

        If that may have changed, a dry run is made first.
        """
        known = self.known
        is_wanted = is_due(self.mr, known) if known is not None else self.mr.context.looks_once
        write = self._write("differs" if known is None and settled else "dry-run-differs") if is_wanted else None
        if write is not None:
            self.dry_run = replace(write, dry_run=True)
        else:
            is_never_written = is_ignored(self.wanted.manifest) and not settled
            self.next = self._done(settled, is_tried=is_never_written)

    def _write(self, reason: str) -> Update | None:
        """The write of the live object as its manifest asks for it now; none for one that is never written again."""
        found = application(self.wanted.manifest, self.live, self.options, always_update=True).value_or(None)
        if not isinstance(found, UpdateObject) or not isinstance(self.wanted.resource, Resource):
            return None
        return Update(self.wanted.resource, found.manifest, reason)

    def _may_be_the_servers(self, because: tuple[Difference, ...]) -> bool:
        """True if differences may be the server's doing, so that another write would not remove them."""
        if not because or self.mr.config.always_update:
            return False
        known = self.known
        return self.mr.context.looks_once if known is None else because == known.settled

    def _has_another_context(self, known: ObjectState | None) -> bool:
        if known is None:
            return False
        return self.mr.write_context(known.resource, known.key.namespace).differs(known.context)

    def _application(self) -> Result[Application, Problem]:
        rule = self.rules.get(self.wanted.resource) if isinstance(self.wanted.resource, Resource) else None
        if self._compared is None or self._compared[0] is not rule:
            always = self.mr.config.always_update
            found = application(self.wanted.manifest, self.live, self.options, rule=rule, always_update=always)
            self._compared = (rule, found)
        return self._compared[1]

    def _because(self) -> tuple[Difference, ...]:
        """In what the object differs from what was sent."""
        found = self._application().value_or(None)
        return found.because if isinstance(found, UpdateObject) else ()

    def _problem(self, failure: Problem) -> str:
        """The problem, and that it is the injection of labels that has it, if so."""
        try:
            with_injected_labels(self.wanted.manifest, self.options.labels)
        except UnreadableError as error:
            if error.problem == failure:
                return f'error injecting labels into object "{self.wanted}": {failure}'
        return str(failure)

    def _unread(self, problem: NotAnswered) -> Obstacle:
        return Obstacle(apply_error(self.wanted, problem.message), problem.is_unreachable)

    def _done(self, settled: tuple[Difference, ...], *, is_tried: bool) -> Done:
        """The object is as it should be.

        Args:
            settled: what the server makes of it beyond what is known.
            is_tried: whether this reconciliation has found out what the server makes of it.
        """
        resource, key = self.wanted.resource, key_of(self.wanted.manifest)
        if self.live is None or isinstance(resource, NotAnswered):
            return Done(None)
        context, now, known = self.mr.write_context(resource, key.namespace), self.mr.now, self.known
        tried, changed = None, None
        if known is not None:
            tried = known.tried
            changed = now if is_tried and context.differs(known.context) else known.changed
            context = context.completed_by(known.context) if is_tried else known.context
        return Done(
            ObjectState(
                self.wanted.identity,
                resource,
                key,
                self.asked,
                fingerprint(self.live),
                seen=now,
                tried=now if is_tried else tried,
                context=context,
                changed=changed,
                settled=settled,
                scaling=self.options.scaling,
            )
        )


def rule_of(resource: Resource, answer: Answer) -> StorageRule | None:
    """How custom resources of a kind are stored, as their definition tells; none if it does not."""
    return custom_resource_rule(answer.objects[0], resource.version) if isinstance(answer, Found) else None


def merge_options(
    mr: Reconciliation, autoscaled: ScaledObjects
) -> Callable[[DesiredObject], tuple[Instructions, bytes]]:
    """For each object its merge options, and a digest of all that is asked of it.

    What was asked before stays out of the digest. It only tells what to take away, and that is done once.

    Raises:
        UnreadableError: the ManagedResource has a shape that no API server stores.
    """
    equivalences = equivalences_of(mr.manifest)
    spec = mr.manifest.get("spec") or {}
    labels = injected_labels(mr.manifest, mr.config.managed_by)
    overwrite_labels = boolean_at(spec, "forceOverwriteLabels") is True
    overwrite_annotations = boolean_at(spec, "forceOverwriteAnnotations") is True

    def of(wanted: DesiredObject) -> tuple[Instructions, bytes]:
        options = Instructions(
            mr.origin,
            labels,
            wanted.previous_labels,
            wanted.previous_annotations,
            overwrite_labels,
            overwrite_annotations,
            autoscaled.scaling_of(wanted.identity, equivalences),
        )
        say = [mr.origin, labels, overwrite_labels, overwrite_annotations, options.scaling]
        return options, digest([wanted.manifest, say])

    return of
