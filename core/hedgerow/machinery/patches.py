"""JSON merge patches (RFC 7386): what a patch makes of a value, and which patch turns one object into another.

Decides over parsed JSON alone and knows no Kubernetes type, so a list is always replaced whole. Nothing is changed in
place; results share with their inputs whatever stayed as it was, and nobody may change them either.
"""

from collections.abc import Mapping
from typing import Any

from hedgerow.machinery.objects import Manifest


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """The value that a merge patch makes of a target.

    A patch that is no object replaces the target. One that is sets or removes, where null, the fields that it names;
    a target that is no object then counts as the empty one.

    Args:
        target: any parsed JSON value.
        patch: any parsed JSON value.

    Source: RFC 7386, section 2.
    """
    if not isinstance(patch, dict | Mapping):
        return patch
    result = dict(target) if isinstance(target, dict | Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = apply_merge_patch(result.get(name), value)
    return result


def merge_patch(before: Manifest, after: Manifest) -> dict[str, Any]:
    """The smallest merge patch that turns one object into another; empty if they are equal.

    A merge patch cannot set null, so a null field in `after` counts as absent.

    Args:
        before: the object as it is.
        after: the object as it should be.

    Source: RFC 7386, section 1.
    """
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if old is value:
            continue
        if value is None:
            patch[name] = None
        elif isinstance(value, dict | Mapping) and isinstance(old, dict | Mapping):
            if nested := merge_patch(old, value):
                patch[name] = nested
        elif not _equal(old, value):
            patch[name] = value
    return patch


def _equal(one: Any, other: Any) -> bool:
    """Whether two parsed values are the same JSON; 1.0 is 1, which a server may hand back for it, but `true` is not."""
    return bool(one == other) and _same_booleans(one, other)


def _same_booleans(one: Any, other: Any) -> bool:
    """Whether two values that Python takes for equal have their booleans, which it takes for numbers, in common."""
    if isinstance(one, list):
        return all(map(_same_booleans, one, other))
    if isinstance(one, dict | Mapping):
        return all(_same_booleans(value, other[name]) for name, value in one.items())
    return isinstance(one, bool) is isinstance(other, bool)
