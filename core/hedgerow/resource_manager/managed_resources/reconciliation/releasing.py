"""How objects are let go that live on without being managed.

Source: managed-resources §7.8; decision "mode `Ignore`".
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Kind, Manifest, annotations_of
from hedgerow.machinery.plan import JsonPatch, Outcome, Plan
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.names import DESCRIPTION, ORIGIN
from hedgerow.resource_manager.managed_resources.reconciliation.cleaning import told_together
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.live import Live, Place, live, place_of
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, trouble
from hedgerow.resource_manager.managed_resources.references import Reference

_NOT_FOUND: Final = 404
_Released = Kind | ObjectQuestion | JsonPatch | str | None
"""What has to be known or done first, or what went wrong; none: it is released."""


def release_orphans(stage: Stage) -> Stage | Plan:
    """An orphan does not say any more that it is ours, and may be edited."""
    orphans = {orphan.identity: orphan for orphan in stage.desired.orphans}
    results = [_released(stage, orphans[at]) for at in sorted(orphans, key=str)]
    if kinds := tuple(each for each in results if isinstance(each, Kind)):
        return Plan(kinds=kinds)
    if questions := tuple(each for each in results if isinstance(each, ObjectQuestion)):
        return Plan(questions=questions)
    if patches := tuple(each for each in results if isinstance(each, JsonPatch)):
        return Plan(patches, goes_on=True)
    if not (errors := [each for each in results if isinstance(each, str)]):
        return stage
    text = told_together("Could not release all orphaned resources", errors)
    return trouble(stage, "ReleaseOfOrphanedResourcesFailed", text, text, attempted(stage))


def _released(stage: Stage, orphan: Reference) -> _Released:
    place = place_of(orphan.kind, orphan.key, stage.context.kinds)
    match place:
        case None:
            return orphan.kind
        case NotAnswered():
            return None if place.is_not_found else f'error getting object "{orphan}": {place.message}'
    if writes := stage.writes_of(*place):
        return _problem(orphan, writes)
    match live(stage, *place):
        case ObjectQuestion() as question:
            return question
        case NotAnswered() as problem:
            return f'error getting object "{orphan}": {problem.message}'
        case Live(manifest):
            return _patch(stage, place, manifest) if manifest is not None else None


def _problem(orphan: Reference, writes: Sequence[Outcome]) -> str | None:
    """Why an object is not released although that was tried; one that is gone needs no release."""
    refusal = writes[-1].refusal
    if refusal is None or refusal.code == _NOT_FOUND:
        return None
    return f'error patching object "{orphan}": {refusal.message}'


def _patch(stage: Stage, place: Place, manifest: Manifest) -> JsonPatch | None:
    """What another ManagedResource has taken over meanwhile stays as it is."""
    if annotations_of(manifest).get(ORIGIN) != stage.origin:
        return None
    return JsonPatch(place.resource, place.key, [*_operations(stage, manifest)], "released")


def _operations(stage: Stage, manifest: Manifest) -> Iterator[dict[str, Any]]:
    yield {"op": "test", "path": _pointer(ORIGIN), "value": stage.origin}
    yield {"op": "remove", "path": _pointer(ORIGIN)}
    if DESCRIPTION in annotations_of(manifest):
        yield {"op": "remove", "path": _pointer(DESCRIPTION)}


def _pointer(annotation: str) -> str:
    return f"/metadata/annotations/{annotation.replace('/', '~1')}"
