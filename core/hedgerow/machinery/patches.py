"""JSON merge patches (RFC 7386): apply and compute. JSON patches (RFC 6902): compute.

Works on parsed JSON alone, so a merge patch replaces a list as a whole. Nothing is changed in place: results share
unchanged parts with their inputs, which the caller must not change. Parts that two values share are not compared.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from hedgerow.machinery.objects import Manifest


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """The target with a merge patch applied (RFC 7386, section 2).

    A patch that is no object replaces the target. An object sets the fields that it names, and removes those that are
    null; a target that is no object then counts as the empty object.
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
    """
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        # 1.0 is 1, because a server may return either, but `true` is not 1.
        if old is value or (old == value and _same_booleans(old, value)):
            continue
        if isinstance(value, (dict, Mapping)) and isinstance(old, (dict, Mapping)):
            if nested := merge_patch(old, value):
                patch[name] = nested
        else:
            patch[name] = value
    return patch


def _same_booleans(one: Any, other: Any) -> bool:
    """True if two values that are equal in Python have equal booleans, which Python takes for numbers."""
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


Operation: TypeAlias = dict[str, Any]


def json_patch_between(before: Any, after: Any) -> list[Operation]:
    """The operations that turn one parsed JSON value into another; none if they are equal.

    Members of objects come in sorted order, those of the new object first, then those that it lacks. Lists are cut or
    extended at their end, then compared place by place. Numbers are equal by value; a boolean is no number.
    """
    return list(_operations(before, after, ""))


def _operations(before: Any, after: Any, path: str) -> Iterator[Operation]:
    if before is after:
        return
    if isinstance(before, (dict, Mapping)) and isinstance(after, (dict, Mapping)):
        yield from _of_objects(before, after, path)
    elif isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        yield from _of_lists(before, after, path)
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield {"op": "replace", "path": path, "value": after}


def _of_objects(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Operation]:
    for name in sorted(after):
        if name not in before:
            yield {"op": "add", "path": _below(path, name), "value": after[name]}
        elif before[name] is not after[name]:
            yield from _operations(before[name], after[name], _below(path, name))
    for name in sorted(before):
        if name not in after:
            yield {"op": "remove", "path": _below(path, name)}


def _of_lists(
    before: list[Any] | tuple[Any, ...], after: list[Any] | tuple[Any, ...], path: str
) -> Iterator[Operation]:
    for index in range(len(before) - 1, len(after) - 1, -1):
        yield {"op": "remove", "path": f"{path}/{index}"}
    for index in range(len(before), len(after)):
        yield {"op": "add", "path": f"{path}/{index}", "value": after[index]}
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:  # most items of a long list are shared
            yield from _operations(old, new, f"{path}/{index}")


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
