"""Applies one object: what to read, to try by a dry run and to write next.

An object that this ManagedResource has not applied before is created without reading it.

Source: managed-resources §7.9, §8.6; decision "steady state".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

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
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.desired import NODES_OF_AN_OBJECT, DesiredObject
from hedgerow.resource_manager.managed_resources.merge.merging import (
    Application,
    CreateObject,
    Instructions,
    UpdateObject,
    application,
    with_injected_labels,
)
from hedgerow.resource_manager.managed_resources.reconciliation import ObjectState, Reconciliation
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, StorageRule
from hedgerow.resource_manager.managed_resources.unchanged import Verdict, is_due, is_object_unchanged, verdict
from hedgerow.resource_manager.managed_resources.write_errors import (
    CONFLICT,
    apply_error,
    error_text,
    has_come_too_late,
    is_to_be_read_again,
    replacement,
)

Rules: TypeAlias = Mapping[Resource, StorageRule | None]
"""Storage rules of custom resources whose definitions were read; none: the definition could not be read."""
Write: TypeAlias = Create | Update | Delete


@dataclass(frozen=True, slots=True)
class Done:
    """The object is as desired."""

    state: ObjectState | None
    """None if there is no live object to identify."""


@dataclass(frozen=True, slots=True)
class ApplyError:
    """The object cannot be applied."""

    text: str
    is_unreachable: bool = False
    """True if an API server did not answer."""


@dataclass(slots=True)
class ObjectApplication:
    """An object to apply, and what this reconciliation has read and written of it."""

    mr: Reconciliation
    wanted: DesiredObject
    options: Instructions
    asked: bytes
    """As in `ObjectState`."""
    rules: Rules
    writes: list[WriteResult] = field(default_factory=list)
    is_read: bool = False
    """True if the object was read since the last failed write."""
    live: Manifest | None = None
    """The object as it was read; none if it does not exist, or was not read."""
    next: Done | ApplyError | Write | None = None
    """The next write, or the end; none: not decided yet."""
    dry_run: Update | None = None
    """A dry run that decides on what is next."""
    _compared: tuple[StorageRule | None, Result[Application, Problem]] | None = None

    @property
    def nodes(self) -> int:
        """A decision about the object takes as long as reading so many nodes."""
        return NODES_OF_AN_OBJECT + count_nodes(self.wanted.manifest)

    @property
    def known(self) -> ObjectState | None:
        """The state that the last reconciliation left; none if something else was asked for then."""
        known = self.mr.state.objects.get(self.wanted.identity)
        if known is None or not self.asked or known.asked != self.asked:
            return None
        is_same = (known.resource, known.key) == (self.wanted.resource, key_of(self.wanted.manifest))
        return known if is_same else None

    @property
    def may_exist(self) -> bool:
        """True if the object was applied before, or a write has shown that it may exist."""
        return self.wanted.was_applied or self.wanted.identity in self.mr.state.objects or bool(self.writes)

    @property
    def has_met_an_existing_object(self) -> bool:
        """True if a creation failed because the object exists, or failed otherwise and the object exists."""
        errors = (write.error for write in self.writes if isinstance(write.action, Create))
        return any(error is not None and (self.live is not None or error.code == CONFLICT) for error in errors)

    @property
    def write(self) -> Write | None:
        """The next write."""
        return self.next if isinstance(self.next, Create | Update | Delete) else None

    def begin(self) -> None:
        """Decide what can be decided without reading."""
        name, known = key_of(self.wanted.manifest).name, self.known
        if problem := self.wanted.problem or (None if name else "resource name may not be empty"):
            self.next = ApplyError(apply_error(self.wanted, problem))
        elif isinstance(self.wanted.resource, NotAnswered):
            self.next = self._unread(self.wanted.resource)
        elif known is not None and not self.mr.config.always_update and is_object_unchanged(self.mr, known):
            self.next = Done(known)

    def take_answer(self, answer: Answer) -> None:
        """Note the object as it was read. If it does not exist, the error of its last write stands."""
        last = self.writes[-1] if self.writes else None
        is_missing = isinstance(answer, NotAnswered) and answer.is_not_found
        if (
            isinstance(answer, NotAnswered)
            and last is not None
            and not answer.is_unreachable
            and (not is_missing or not has_come_too_late(last))
        ):
            self.next = ApplyError(error_text(self.writes, self.wanted))
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
        if not isinstance(found, UpdateObject) or self._may_be_settled(found.because):
            return None
        name = f"{resource.plural}.{resource.group}"
        return ObjectQuestion(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", name), Cluster.TARGET)

    def decide(self) -> None:
        """Decide what is next, by the object as it was read, or as if it did not exist."""
        found = self._application()
        if isinstance(found, Failure):
            self.next = ApplyError(apply_error(self.wanted, self._problem(found.failure())))
            return
        match found.unwrap(), self.wanted.resource:
            case CreateObject(manifest), Resource() as resource:
                self.next = Create(resource, manifest, "missing")
            case UpdateObject(manifest, because), Resource() as resource if not self._may_be_settled(because):
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
        has_new_context = known is not None and self.mr.write_context(known.resource, known.key.namespace).differs(
            known.context
        )
        if write is not None and (
            found is Verdict.CHANGES
            or (found is Verdict.NOT_SUPPORTED and (is_guess or has_new_context))
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
            # The server would make the remaining differences again.
            self.next = self._done(self._because(), is_tried=True)
        elif is_to_be_read_again(self.writes):
            self.is_read, self.live = False, None
        else:
            self.next = replacement(result) or ApplyError(error_text(self.writes, self.wanted))

    def _try(self, settled: tuple[Difference, ...]) -> None:
        """Decide on a live object that has only settled differences: by a dry run if one is due."""
        known = self.known
        is_wanted = is_due(self.mr, known) if known is not None else self.mr.context.looks_once
        if is_wanted and isinstance(self.wanted.resource, Resource):
            found = application(self.wanted.manifest, self.live, self.options, always_update=True).value_or(None)
            if isinstance(found, UpdateObject):
                reason = "differs" if known is None and settled else "dry-run-differs"
                self.dry_run = Update(self.wanted.resource, found.manifest, reason, dry_run=True)
                return
        is_never_written = is_ignored(self.wanted.manifest) and not settled
        self.next = self._done(settled, is_tried=is_never_written)

    def _may_be_settled(self, because: tuple[Difference, ...]) -> bool:
        """True if the server may have made the differences, so that another write would not remove them."""
        if not because or self.mr.config.always_update:
            return False
        known = self.known
        return self.mr.context.looks_once if known is None else because == known.settled

    def _application(self) -> Result[Application, Problem]:
        rule = self.rules.get(self.wanted.resource) if isinstance(self.wanted.resource, Resource) else None
        if self._compared is None or self._compared[0] is not rule:
            always = self.mr.config.always_update
            found = application(self.wanted.manifest, self.live, self.options, rule=rule, always_update=always)
            self._compared = (rule, found)
        return self._compared[1]

    def _because(self) -> tuple[Difference, ...]:
        """The differences between the live object and the one to write."""
        found = self._application().value_or(None)
        return found.because if isinstance(found, UpdateObject) else ()

    def _problem(self, failure: Problem) -> str:
        """The problem of the merge, and whether the injection of labels has it."""
        try:
            with_injected_labels(self.wanted.manifest, self.options.labels)
        except UnreadableError as error:
            if error.problem == failure:
                return f'error injecting labels into object "{self.wanted}": {failure}'
        return str(failure)

    def _unread(self, answer: NotAnswered) -> ApplyError:
        return ApplyError(apply_error(self.wanted, answer.message), answer.is_unreachable)

    def _done(self, settled: tuple[Difference, ...], *, is_tried: bool) -> Done:
        """The end: the object is as desired, apart from settled differences.

        `is_tried` is true if this reconciliation has written the object, or tried that.
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
