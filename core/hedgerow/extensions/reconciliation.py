"""One reconciliation of an Extension: its finalizer and operation annotation, and what its status says.

Knows how operations begin and end; what is done in between is the extension's own. No worker waits: while an operation
waits the turn ends, and a later one goes on.

Source: rsyslog-relp §4.2.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from hedgerow.api.definition_deletion import goes_with_definition, kept
from hedgerow.api.gardener import EXTENSIONS
from hedgerow.api.managed_resources import OPERATION
from hedgerow.extensions import operations
from hedgerow.extensions.operations import Extension, OperationType
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan, failed
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.builder.managed_resource import error_codes


class Outcome(NamedTuple):
    """How far an operation has come: it waits, it has failed, or else it has succeeded."""

    error: str | None = None
    codes: tuple[str, ...] = ()
    """Who has to correct the error, if its text does not tell."""
    waits_until: datetime | None = None
    """At the latest; a change may bring the next turn earlier."""
    state: Any = None
    """What the next turn goes on with, unless the operation has succeeded and its end is told."""


Perform: TypeAlias = Callable[[OperationType], Coroutine[Any, Any, Outcome]]


def failure(key: ObjectKey, error: str) -> Plan:
    """The plan that says why nothing can be done about an Extension now."""
    return failed(Failure(EXTENSIONS, key, Problem("", error), retryable=True))


async def released_with_definition(extension: Manifest, finalizer: str) -> Plan | None:
    """The plan for an Extension that goes only because its definition does: what it stands for stays.

    None: it does not, or has no finalizer that could keep it.
    """
    finalizers = list_at(extension, "metadata", "finalizers")
    if not is_terminating(extension) or finalizer not in finalizers:
        return None
    key, goes = key_of(extension), await goes_with_definition(EXTENSIONS, extension, Cluster.TARGET)
    if isinstance(goes, NotAnswered):
        return failure(key, f"could not read the definition of Extension, so nothing is deleted: {goes.message}")
    if not goes:
        return None
    patch = {"metadata": {"finalizers": [each for each in finalizers if each != finalizer] or None}}
    error = (await MergePatch(EXTENSIONS, key, patch, "released", resource_version_of(extension))).error
    if error is not None:
        return Plan() if error.is_not_found else failure(key, error.message)
    return Plan(events=(kept(EXTENSIONS, extension, "what it has brought about stays", Cluster.TARGET),))


class Reconciliation:
    """One reconciliation of an Extension, which is known as the API server stored it last."""

    def __init__(self, extension: Extension, finalizer: str, waiting: OperationType | None) -> None:
        """Begin nothing yet; `waiting` is the operation with which the last turn ended, if it waits."""
        self._extension = extension
        self._finalizer = finalizer
        self._waiting = waiting
        self._is_gone = False

    async def run(self, perform: Perform) -> Plan:
        """Perform the operation that is due, by the function of the extension that is given."""
        operation = self._extension.operation
        is_held = self._finalizer in self._extension.finalizers
        if operation is None or (operation is OperationType.DELETE and not is_held):
            return self._ended(await self._take_request())
        # The request goes once the status keeps it: should the process die in between, it is still to be done.
        if error := await self._begin(operation) or await self._take_request():
            return self._ended(error)
        if self._is_gone:
            return Plan()
        return await self._concluded(operation, await perform(operation))

    def _ended(self, error: str | None, state: Any = None) -> Plan:
        """The plan without anything more to do, or with the error that ends the turn."""
        return replace(failure(self._extension.key, error), state=state) if error is not None else Plan()

    async def _begin(self, operation: OperationType) -> str | None:
        """Hold the Extension, and tell that the operation has begun."""
        if operation is self._waiting:
            return None
        finalizers = self._extension.finalizers
        if operation not in {OperationType.DELETE, OperationType.MIGRATE} and self._finalizer not in finalizers:
            error = await self._patch("held", {"metadata": self._held()})
            if error:
                return f"failed to add finalizer: {error}"
        status = operations.started(operation, await Now())
        return await self._patch("started", {"status": status}, subresource="status")

    def _held(self) -> Mapping[str, Any]:
        """The finalizer, and without a status no request either: the missing status asks for the same."""
        held = {"finalizers": [*self._extension.finalizers, self._finalizer]}
        is_asked_twice = self._extension.requested == operations.RECONCILE and self._extension.last_type is None
        return {**held, "annotations": {OPERATION: None}} if is_asked_twice else held

    async def _concluded(self, operation: OperationType, outcome: Outcome) -> Plan:
        """Tell what became of an operation, unless it waits, and finish one that has succeeded."""
        now = await Now()
        if outcome.waits_until is not None:
            return Plan(requeue_after=(outcome.waits_until - now).total_seconds(), state=outcome.state)
        generation = self._extension.generation
        if outcome.error is not None:
            codes = outcome.codes or error_codes(outcome.error)
            status = operations.failed(operation, generation, outcome.error, codes, now)
            await self._patch("failed", {"status": status}, subresource="status")
            return self._ended(outcome.error, outcome.state)
        status = operations.succeeded(operation, generation, now)
        is_resumed = operation is OperationType.MIGRATE and self._extension.requested != operations.MIGRATE
        # Nothing but the status asks for this migration, and once that says that it is over nothing does.
        if is_resumed and (error := await self._set_finalizers([], "migrated")):
            return self._ended(error, outcome.state)
        error = await self._patch("succeeded", {"status": status}, subresource="status") or await self._end(operation)
        is_followed = error is None and operation in {OperationType.CREATE, OperationType.RECONCILE}
        hour = operations.PERIOD.total_seconds()
        return Plan(requeue_after=hour) if is_followed else self._ended(error, outcome.state)

    async def _end(self, operation: OperationType) -> str | None:
        """Take off what the operation leaves behind; an Extension that is gone by then has nothing left."""
        match operation:
            case OperationType.DELETE:
                others = [each for each in self._extension.finalizers if each != self._finalizer]
                return await self._set_finalizers(others, "released")
            case OperationType.MIGRATE if self._extension.finalizers:
                return await self._set_finalizers([], "migrated") or await self._remove_annotation()
            case OperationType.MIGRATE | OperationType.RESTORE:
                return await self._remove_annotation()
            case _:
                return None

    async def _take_request(self) -> str | None:
        return await self._remove_annotation() if self._extension.requested == operations.RECONCILE else None

    async def _remove_annotation(self) -> str | None:
        if self._extension.requested is None or self._is_gone:
            return None
        return await self._patch("operation-taken", {"metadata": {"annotations": {OPERATION: None}}})

    async def _set_finalizers(self, finalizers: list[str], reason: str) -> str | None:
        return await self._patch(reason, {"metadata": {"finalizers": finalizers or None}})

    async def _patch(self, reason: str, patch: Mapping[str, Any], *, subresource: str = "") -> str | None:
        """Change the Extension, and know it as it is then; one that is gone needs no change.

        Only the version that was decided about is changed: another Extension of its name may have been made since, and
        a merge patch replaces the whole list of finalizers.
        """
        version = self._extension.resource_version
        result = await MergePatch(EXTENSIONS, self._extension.key, patch, reason, version, subresource)
        if result.error is not None:
            self._is_gone = result.error.is_not_found
            return None if self._is_gone else result.error.message
        if result.stored is None:
            self._is_gone = True
        else:
            self._extension = Extension.of(result.stored)
        return None
