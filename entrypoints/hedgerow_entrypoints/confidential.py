"""What of a Secret may be shown to anybody: everything but its values.

That a value changes is told all the same. Of a Secret as somebody applied it kubectl keeps a copy in an annotation,
which holds the values as well.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, annotations_of

REDACTED: Final = "(redacted)"
CHANGED: Final = "(redacted, changed)"
_VALUES: Final = ("data", "stringData")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def redacted(secret: Manifest, before: Manifest | None = None) -> Manifest:
    """A Secret without its values.

    Args:
        secret: what is to be shown.
        before: how it was before a change, so that a changed value can be told; none: it is not compared.
    """
    old = before or {}
    values = {name: _redacted(secret[name], old.get(name), before) for name in _VALUES if name in secret}
    shown = {**secret, **values}
    copied = annotations_of(secret)
    if _LAST_APPLIED in copied:
        mark = _mark(copied[_LAST_APPLIED], annotations_of(old).get(_LAST_APPLIED), before)
        shown["metadata"] = {**secret["metadata"], "annotations": {**copied, _LAST_APPLIED: mark}}
    return shown


def _redacted(values: Any, old: Any, before: Manifest | None) -> Any:
    if values is None:
        return None
    if not isinstance(values, Mapping):
        return _mark(values, old, before)
    known = old if isinstance(old, Mapping) else {}
    return {name: _mark(value, known.get(name), before) for name, value in values.items()}


def _mark(value: Any, old: Any, before: Manifest | None) -> str:
    return CHANGED if before is not None and old is not None and value != old else REDACTED
