"""How decisions read objects that nobody has checked, and how they change them.

Nothing but a shape is looked at here: an object, a list, a text where a rule wants to read one. What has another shape
is told by path. What no rule reads may be of any shape, and stays as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Manifest

_NOTHING: Final[Mapping[str, Any]] = {}
_KINDS: Final = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a string"),
    (list, "a list"),
    (Mapping, "an object"),
)


class UnreadableError(Exception):
    """A field has another shape than a rule can read; the text names the field and says so.

    It never leaves the admission context: `webhook.mutating` and `webhook.raw` turn it into a denial.
    """

    def __init__(self, path: str, expected: str, value: Any) -> None:
        kind = next((name for types, name in _KINDS if isinstance(value, types)), f"a {type(value).__name__}")
        super().__init__(f"{path or 'object'}: expected {expected}, got {kind}")


def object_at(manifest: Manifest, *path: str) -> Mapping[str, Any]:
    """The object at a path; absent and null ones, at any step, are empty.

    Raises:
        UnreadableError: something at or above the path is no object.
    """
    value: Mapping[str, Any] = manifest
    for depth, name in enumerate(path):
        member = value.get(name)
        if member is None:
            return _NOTHING
        if not isinstance(member, (dict, Mapping)):
            raise UnreadableError(".".join(path[: depth + 1]), "an object", member)
        value = member
    return value


def list_at(manifest: Manifest, *path: str) -> Sequence[Any]:
    """The list at a path; absent and null ones are empty. Its items may be anything.

    Raises:
        UnreadableError: something at or above the path has another shape.
    """
    value = object_at(manifest, *path[:-1]).get(path[-1])
    if value is None:
        return ()
    if not isinstance(value, list):
        raise UnreadableError(".".join(path), "a list", value)
    return value


def objects_at(manifest: Manifest, *path: str) -> Sequence[Mapping[str, Any]]:
    """The list of objects at a path; absent and null ones are empty, and so is a null item.

    Raises:
        UnreadableError: something at, above or directly below the path has another shape.
    """
    items = list_at(manifest, *path)
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, (dict, Mapping)):
            raise UnreadableError(f"{'.'.join(path)}[{index}]", "an object", item)
    return [item or _NOTHING for item in items]


def text_at(manifest: Manifest, *path: str) -> str | None:
    """The text at a path; none where it is absent or null.

    Raises:
        UnreadableError: something at or above the path has another shape.
    """
    value = object_at(manifest, *path[:-1]).get(path[-1])
    if value is not None and not isinstance(value, str):
        raise UnreadableError(".".join(path), "a string", value)
    return value


def integer_at(manifest: Manifest, *path: str) -> int | None:
    """The integer at a path; none where it is absent or null. A number without fraction is one, as JSON has no other.

    Raises:
        UnreadableError: something at or above the path has another shape.
    """
    value = object_at(manifest, *path[:-1]).get(path[-1])
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise UnreadableError(".".join(path), "an integer", value)


def boolean_at(manifest: Manifest, *path: str) -> bool | None:
    """The boolean at a path; none where it is absent or null.

    Raises:
        UnreadableError: something at or above the path has another shape.
    """
    value = object_at(manifest, *path[:-1]).get(path[-1])
    if value is not None and not isinstance(value, bool):
        raise UnreadableError(".".join(path), "a boolean", value)
    return value


def texts_at(manifest: Manifest, *path: str) -> Mapping[str, str]:
    """The object of texts at a path, as labels and annotations are; absent and null ones are empty.

    Raises:
        UnreadableError: something at, above or directly below the path has another shape.
    """
    texts = object_at(manifest, *path)
    for name, text in texts.items():
        if not isinstance(text, str):
            raise UnreadableError(f"{'.'.join(path)}[{name}]", "a string", text)
    return texts


def with_value(manifest: Manifest, path: Sequence[str], value: Any) -> dict[str, Any]:
    """The object with another value at a path; objects on the way are made where they are absent or null.

    Everything beside the path is shared with the object that was given, which stays as it is.

    Args:
        manifest: the object.
        path: names of members, from the outside in; at least one.
        value: what is to stand there.
    """
    name, *rest = path
    changed = dict(manifest)
    changed[name] = with_value(manifest.get(name) or _NOTHING, rest, value) if rest else value
    return changed


def without(manifest: Manifest, path: Sequence[str]) -> dict[str, Any]:
    """The object without the member at a path, which is there; otherwise as `with_value`."""
    name, *rest = path
    changed = dict(manifest)
    if rest:
        changed[name] = without(manifest[name], rest)
    else:
        del changed[name]
    return changed
