"""What of an object may be shown to anybody: everything but the values of Secrets.

That a value changes is told all the same. Of a Secret as somebody applied it kubectl keeps a copy in an annotation,
which holds the values as well; the status of a ManagedResource may repeat the annotations of what it has applied.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Kind, Manifest, annotations_of
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, SECRETS
from hedgerow.resource_manager.managed_resources.references import LAST_APPLIED

REDACTED: Final = "(redacted)"
CHANGED: Final = "(redacted, changed)"
_VALUES: Final = ("data", "stringData")


def redacted(kind: Kind, manifest: Manifest, before: Manifest | None = None) -> Manifest:
    """An object without the values of Secrets; the very same one if it holds none.

    Args:
        kind: what it is.
        manifest: what is to be shown.
        before: how it was before a change, so that a changed value can be told; none: it is not compared.
    """
    if kind == SECRETS.object_kind:
        return _redacted_secret(manifest, before)
    return _redacted_status(manifest) if kind == MANAGED_RESOURCES.object_kind else manifest


def _redacted_secret(secret: Manifest, before: Manifest | None) -> Manifest:
    old = before or {}
    values = {name: _redacted(secret[name], old.get(name), before) for name in _VALUES if name in secret}
    shown = {**secret, **values}
    copied = annotations_of(secret)
    if LAST_APPLIED in copied:
        mark = _mark(copied[LAST_APPLIED], annotations_of(old).get(LAST_APPLIED), before)
        shown["metadata"] = {**secret["metadata"], "annotations": {**copied, LAST_APPLIED: mark}}
    return shown


def _redacted_status(managed_resource: Manifest) -> Manifest:
    """A ManagedResource whose status repeats no copy of what has been applied, whatever shape it has."""
    status = managed_resource.get("status")
    references = status.get("resources") if isinstance(status, Mapping) else None
    if not isinstance(status, Mapping) or not isinstance(references, list):
        return managed_resource
    shown = [_redacted_reference(each) for each in references]
    return {**managed_resource, "status": {**status, "resources": shown}} if shown != references else managed_resource


def _redacted_reference(reference: Any) -> Any:
    annotations = reference.get("annotations") if isinstance(reference, Mapping) else None
    if not isinstance(annotations, Mapping) or LAST_APPLIED not in annotations:
        return reference
    return {**reference, "annotations": {**annotations, LAST_APPLIED: REDACTED}}


def _redacted(values: Any, old: Any, before: Manifest | None) -> Any:
    if values is None:
        return None
    if not isinstance(values, Mapping):
        return _mark(values, old, before)
    known = old if isinstance(old, Mapping) else {}
    return {name: _mark(value, known.get(name), before) for name, value in values.items()}


def _mark(value: Any, old: Any, before: Manifest | None) -> str:
    return CHANGED if before is not None and old is not None and value != old else REDACTED
