"""JSON patch (RFC 6902) as the API server applies it.

Operations change a copy, one after the other; the first that fails fails the patch. Where the server is more lenient
than the standard, so is this: `replace` may add a member to an object, and `copy` and `test` take a missing member, as
all take a missing value, for null.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from returns.result import Failure, Result, Success


class _InapplicableError(Exception):
    """An operation cannot be applied; the message says why."""


def apply_json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Result[Any, str]:
    """A changed copy of the document, or why an operation is malformed, points nowhere, or is a test that fails."""
    patched = _copied(document)
    try:
        for operation in operations:
            patched = _patched(patched, operation)
    except _InapplicableError as error:
        return Failure(str(error))
    return Success(patched)


def _patched(document: Any, operation: Mapping[str, Any]) -> Any:
    name = operation.get("op")
    if name not in ("add", "remove", "replace", "move", "copy", "test"):
        raise _InapplicableError(f"unexpected kind of operation: {name}")
    path, value = _pointer(operation, "path"), operation.get("value")
    match name:
        case "add":
            return _added(document, path, _copied(value))
        case "remove":
            return _removed(document, path)
        case "replace":
            return _replaced(document, path, _copied(value))
        case "move":
            source = _pointer(operation, "from")
            moved = _at(document, source)
            return _added(_removed(document, source), path, moved)
        case "copy":
            return _added(document, path, _copied(_member(document, _pointer(operation, "from"))))
    if not _same(_member(document, path), value):
        raise _InapplicableError(f"testing value {_spelled(path)} failed")
    return document


def _added(document: Any, pointer: Sequence[str], value: Any) -> Any:
    if not pointer:
        return value
    parent, last = _parent(document, pointer)
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent)), value)
    else:
        parent[last] = value
    return document


def _removed(document: Any, pointer: Sequence[str]) -> Any:
    parent, last = _parent(document, pointer)
    if isinstance(parent, list):
        del parent[_index(last, len(parent) - 1)]
    elif last in parent:
        del parent[last]
    else:
        raise _InapplicableError(f"nothing to remove at {_spelled(pointer)}")
    return document


def _replaced(document: Any, pointer: Sequence[str], value: Any) -> Any:
    if not pointer:
        return value
    parent, last = _parent(document, pointer)
    parent[_index(last, len(parent) - 1) if isinstance(parent, list) else last] = value
    return document


def _parent(document: Any, pointer: Sequence[str]) -> tuple[Any, str]:
    if not pointer:
        raise _InapplicableError("the whole document has no parent")
    parent = _at(document, pointer[:-1])
    if not isinstance(parent, dict | list):
        raise _InapplicableError(f"nothing can stand at {_spelled(pointer)}")
    return parent, pointer[-1]


def _at(document: Any, pointer: Sequence[str]) -> Any:
    value = document
    for step in pointer:
        if isinstance(value, list):
            value = value[_index(step, len(value) - 1)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            raise _InapplicableError(f"nothing is at {_spelled(pointer)}")
    return value


def _member(document: Any, pointer: Sequence[str]) -> Any:
    """What a pointer leads to; null for a missing member of an object that is there."""
    if pointer and isinstance(parent := _at(document, pointer[:-1]), dict):
        return parent.get(pointer[-1])
    return _at(document, pointer)


def _index(step: str, largest: int) -> int:
    """The place in a list that a step names; no leading zero, no sign."""
    if not (step.isascii() and step.isdigit()) or (step != "0" and step.startswith("0")) or int(step) > largest:
        raise _InapplicableError(f"no place {step} in the list")
    return int(step)


def _pointer(operation: Mapping[str, Any], field: str) -> list[str]:
    pointer = operation.get(field)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise _InapplicableError(f"{field} is no JSON pointer: {pointer}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _spelled(pointer: Sequence[str]) -> str:
    return "".join(f"/{step}" for step in pointer)


def _copied(value: Any) -> Any:
    """A copy in which nothing stands in two places: what changes one must not change the other."""
    if isinstance(value, (dict, Mapping)):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _same(left: Any, right: Any) -> bool:
    """Equality as the server sees it: 1 is neither true nor 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
