"""Which JSON patch (RFC 6902) turns one value into another, always the same one.

Compares parsed JSON alone and knows no Kubernetes type. Parts that both values share, because the second was made from
the first without copying, are not looked into.

Source: webhooks-and-tokens §3.3.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Operation: TypeAlias = dict[str, Any]
"""One operation of a JSON patch: `op`, `path`, and `value` unless something is removed."""


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
        yield from _operations(old, new, f"{path}/{index}")


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
