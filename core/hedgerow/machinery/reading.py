"""Reads fields of objects that nobody has checked, and changes them.

Checks only the JSON type of the fields that a rule reads, and raises UnreadableError, with the path, for any other. The
other fields may have any type, and stay as they are.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self, TypeAlias, TypeVar

from hedgerow.machinery.failures import Problem, wrong_type
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.remembering import shared_text

T = TypeVar("T")

_NOTHING: Final[Mapping[str, Any]] = {}


class UnreadableError(Exception):
    """A field has another type than a rule can read; a decision turns the problem into a denial or failure."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem) if problem.path else f"object: {problem}")
        self.problem = problem

    def below(self, parent: str) -> Self:
        """The same error with a path that begins further up; `parent` is the path of the object from there."""
        return type(self)(self.problem.below(parent))


def too_much(path: str, what: str, most: int) -> UnreadableError:
    """The error of a field that holds more than `most` of something."""
    return UnreadableError(Problem(path, f"holds more than {most} {what}"))


def unexpected(path: str, expected: str, value: Any) -> UnreadableError:
    """The error of a value of another type than expected."""
    return UnreadableError(wrong_type(path, expected, value))


def object_at(manifest: Manifest, *path: str) -> Mapping[str, Any]:
    """The object at a path; absent and null ones, at any step, are empty."""
    value: Mapping[str, Any] = manifest
    for depth, name in enumerate(path):
        member = value.get(name)
        if member is None:
            return _NOTHING
        if not isinstance(member, (dict, Mapping)):
            raise unexpected(".".join(path[: depth + 1]), "an object", member)
        value = member
    return value


def _value_at(manifest: Manifest, path: Sequence[str], kind: type[T], expected: str) -> T | None:
    """The value of a type at a path of at least one name; mostly a member of the object itself."""
    holder = manifest if len(path) == 1 else object_at(manifest, *path[:-1])
    value = holder.get(path[-1])
    if value is None or isinstance(value, kind):
        return value
    raise unexpected(".".join(path), expected, value)


def list_at(manifest: Manifest, *path: str) -> Sequence[Any]:
    """The list at a path, of items of any type; absent and null ones are empty."""
    items = _value_at(manifest, path, list, "a list")
    return () if items is None else items


def objects_at(manifest: Manifest, *path: str) -> Sequence[Mapping[str, Any]]:
    """The list of objects at a path; absent and null ones are empty, and so is a null item."""
    items = list_at(manifest, *path)
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, (dict, Mapping)):
            raise unexpected(f"{'.'.join(path)}[{index}]", "an object", item)
    return [item or _NOTHING for item in items]


def each_at(read: Callable[[Mapping[str, Any]], T], manifest: Manifest, *path: str) -> tuple[T, ...]:
    """The objects of the list at a path, each as a function reads it; empty if the list is absent or null."""
    return tuple(_read_each(read, objects_at(manifest, *path), path))


def _read_each(
    read: Callable[[Mapping[str, Any]], T], items: Sequence[Mapping[str, Any]], path: Sequence[str]
) -> Iterator[T]:
    for index, item in enumerate(items):
        try:
            yield read(item)
        except UnreadableError as error:
            raise error.below(f"{'.'.join(path)}[{index}]") from error


def text_at(manifest: Manifest, *path: str) -> str | None:
    """The text at a path; none if it is absent or null."""
    return _value_at(manifest, path, str, "a string")


def integer_at(manifest: Manifest, *path: str) -> int | None:
    """The integer at a path, which may be written with a fraction of zero; none if it is absent or null."""
    holder = manifest if len(path) == 1 else object_at(manifest, *path[:-1])
    value = holder.get(path[-1])
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise unexpected(".".join(path), "an integer", value)


def boolean_at(manifest: Manifest, *path: str) -> bool | None:
    """The boolean at a path; none if it is absent or null."""
    return _value_at(manifest, path, bool, "a boolean")


def texts_at(manifest: Manifest, *path: str) -> Mapping[str, str]:
    """The object of texts at a path, as labels and annotations are; absent and null ones are empty."""
    texts = object_at(manifest, *path)
    for name, text in texts.items():
        if not isinstance(text, str):
            raise unexpected(f"{'.'.join(path)}[{name}]", "a string", text)
    return texts


def with_value(manifest: Manifest, path: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy of the object with another value at a path, absent objects on the way included; it shares the rest."""
    name, *rest = path
    changed = dict(manifest)
    changed[name] = with_value(manifest.get(name) or _NOTHING, rest, value) if rest else value
    return changed


def with_each(
    manifest: Manifest, path: Sequence[str], changed: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Manifest:
    """A copy of the object with each object of a list changed; the object itself if `changed` returns each as it is."""
    before = objects_at(manifest, *path)
    after = [*_read_each(changed, before, path)]
    if all(map(operator.is_, after, before)):
        return manifest
    raw = list_at(manifest, *path)
    kept = [item if new is old else new for item, old, new in zip(raw, before, after, strict=True)]
    return with_value(manifest, path, kept)


def without(manifest: Manifest, path: Sequence[str]) -> dict[str, Any]:
    """A copy of the object without the member at a path, which exists; otherwise as `with_value`."""
    name, *rest = path
    changed = dict(manifest)
    if rest:
        changed[name] = without(manifest[name], rest)
    else:
        del changed[name]
    return changed


Fields: TypeAlias = Mapping[str, "Fields | None"]
"""Members of an object, or of each object in a list, and the members to keep of them; none: all."""


def fields_at(*paths: str) -> dict[str, Any]:
    """The members at dotted paths."""
    fields: dict[str, Any] = {}
    for path in paths:
        *parents, name = path.split(".")
        inner = fields
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[name] = None
    return fields


def pruned(value: Any, fields: Fields | None) -> Any:
    """The listed members of a value, with shared texts; values of another type stay, so that rules fail on them."""
    if fields is None:
        return shared_text(value) if isinstance(value, str) else value
    if isinstance(value, (dict, Mapping)):
        return {name: pruned(value[name], below) for name, below in fields.items() if name in value}
    if isinstance(value, list):
        return [pruned(item, fields) for item in value]
    return value


def keeping(*paths: str, labels: Iterable[str] = (), annotations: Iterable[str] = ()) -> Callable[[Manifest], Manifest]:
    """The transform that keeps the fields of an object at dotted paths, and these labels and annotations, if any."""
    fields = fields_at(*paths)
    chosen = {"labels": dict.fromkeys(labels), "annotations": dict.fromkeys(annotations)}
    fields.setdefault("metadata", {}).update({field: names for field, names in chosen.items() if names})

    def transform(manifest: Manifest) -> Manifest:
        kept: dict[str, Any] = pruned(manifest, fields)
        metadata = kept.get("metadata") or {}
        for field in chosen:
            if metadata.get(field) == {}:
                del metadata[field]
        return kept

    return transform
