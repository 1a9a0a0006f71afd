"""JSON merge patches (RFC 7386): what a patch makes of a value, and which patch turns one object into another.

Decides over parsed JSON alone and knows no Kubernetes type, so a list is always replaced whole. Nothing is changed in
place; results share with their inputs whatever stayed as it was, and nobody may change them either.
"""

from collections.abc import Iterable, Mapping
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
    if not isinstance(patch, (dict, Mapping)):
        return patch
    result = dict(target) if isinstance(target, (dict, Mapping)) else {}
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
        if old is value or _equal(old, value):
            continue
        if isinstance(value, (dict, Mapping)) and isinstance(old, (dict, Mapping)):
            if nested := merge_patch(old, value):
                patch[name] = nested
        else:
            patch[name] = value
    return patch


def _equal(one: Any, other: Any) -> bool:
    """Whether two parsed values are the same JSON; 1.0 is 1, which a server may hand back for it, but `true` is not."""
    return bool(one == other) and _same_booleans(one, other)


def _same_booleans(one: Any, other: Any) -> bool:
    """Whether two values that Python takes for equal have their booleans, which it takes for numbers, in common."""
    if isinstance(one, list):
        places: Iterable[Any] = range(len(one))
    elif isinstance(one, (dict, Mapping)):
        places = one
    else:
        return isinstance(one, bool) is isinstance(other, bool)
    for place in places:
        value = one[place]
        # Most leaves are texts: not to call for them makes a settled object three times as fast.
        if not isinstance(value, str) and not _same_booleans(value, other[place]):
            return False
    return True
