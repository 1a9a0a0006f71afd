"""How objects are released that live on without being managed.

Source: managed-resources §7.8; decision "mode `Ignore`".
"""

from collections.abc import Iterator
from typing import Any

from hedgerow.api.managed_resources import DESCRIPTION, ORIGIN
from hedgerow.api.references import Reference
from hedgerow.machinery.execution import concurrently
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.plan import JsonPatch, Plan
from hedgerow.machinery.questions import NotAnswered
from hedgerow.resource_manager.managed_resources.desired import Desired
from hedgerow.resource_manager.managed_resources.reconciliation.conditions import attempted
from hedgerow.resource_manager.managed_resources.reconciliation.live_objects import live, resource_key_of
from hedgerow.resource_manager.managed_resources.reconciliation.managed_resource import Reconciliation, trouble
from hedgerow.resource_manager.managed_resources.reconciliation.pruning import told_together


async def release_orphans(mr: Reconciliation, desired: Desired) -> Plan | None:
    """Remove our annotations from objects that are no longer managed; the end of the reconciliation if that fails."""
    orphans = {orphan.identity: orphan for orphan in desired.orphans}
    problems = await concurrently(_release(mr, orphans[at]) for at in sorted(orphans, key=str))
    if not (errors := [problem for problem in problems if problem]):
        return None
    text = told_together("Could not release all orphaned resources", errors, len(errors))
    return await trouble(mr, "ReleaseOfOrphanedResourcesFailed", text, text, attempted(mr, desired))


async def _release(mr: Reconciliation, orphan: Reference) -> str | None:
    """Release an object; why that failed, if it did. What another ManagedResource has taken over stays as it is."""
    target = await resource_key_of(orphan.kind, orphan.key)
    if isinstance(target, NotAnswered):
        return None if target.is_not_found else f'error getting object "{orphan}": {target.message}'
    found = live(await target.question)
    if isinstance(found, NotAnswered):
        return f'error getting object "{orphan}": {found.message}'
    if found.manifest is None or annotations_of(found.manifest).get(ORIGIN) != mr.origin:
        return None
    patch = JsonPatch(target.resource, target.key, [*_operations(mr, found.manifest)], "released")
    error = (await patch).error
    if error is None or error.is_not_found:
        return None
    return f'error patching object "{orphan}": {error.message}'


def _operations(mr: Reconciliation, manifest: Manifest) -> Iterator[dict[str, Any]]:
    yield {"op": "test", "path": _pointer(ORIGIN), "value": mr.origin}
    yield {"op": "remove", "path": _pointer(ORIGIN)}
    if DESCRIPTION in annotations_of(manifest):
        yield {"op": "remove", "path": _pointer(DESCRIPTION)}


def _pointer(annotation: str) -> str:
    return f"/metadata/annotations/{annotation.replace('/', '~1')}"
