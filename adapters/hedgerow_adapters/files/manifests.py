"""Kubernetes objects out of decoded documents: lists taken apart, and what every object must have.

Decides on values alone. What the kinds mean, and whether the rest of an object is valid, is not known here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

_LIST: Final = "List"
_REVIEW: Final = "AdmissionReview"
_LONGEST_SHOWN: Final = 40
_SHAPES: Final = ((dict, "a mapping"), (list, "a list"), (str, "a string"))
_TEXTS_OF_METADATA: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp", "selfLink"),
)


class Part(NamedTuple):
    """An object of a document, or what stands in the place of one."""

    value: Any
    where: str
    """Its place in the lists that hold it, such as `items[3]`; empty for a document that is no list."""
    problems: tuple[str, ...]


ObjectRule: TypeAlias = Callable[[Mapping[str, Any]], Iterator[str]]
"""Everything of one sort that is wrong with an object."""


def parts_of(document: Any, *, sent: bool = False) -> Iterator[Part]:
    """All objects that a document holds, each with what is wrong with it; none for an empty document.

    Args:
        document: any JSON value, of bounded nesting.
        sent: whether the objects are as somebody sends them to an API server, and not as one holds them.
    """
    if document is not None:
        yield from _parts(document, "", SENT_OBJECT_RULES if sent else OBJECT_RULES)


def _parts(value: Any, where: str, rules: Sequence[ObjectRule]) -> Iterator[Part]:
    if not _is_list(value):
        yield Part(value, where, object_problems(value, rules))
        return
    items, problems = _items(value)
    if problems:
        yield Part(value, where, problems)
    for position, item in enumerate(items):
        yield from _parts(_typed_as_item(item, value), f"{where}.items[{position}]".removeprefix("."), rules)


def _is_list(value: Any) -> bool:
    """Whether a value is a list of objects, as `kubectl get -o yaml` and API servers write them."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind == _LIST or (kind.endswith(_LIST) and "items" in value))


def _items(value: Mapping[str, Any]) -> tuple[list[Any], tuple[str, ...]]:
    """The items of a list of objects, and what is wrong with the list itself."""
    problems = tuple(_type_is_unknown(value))
    if "items" not in value:
        return [], (*problems, "a List without items")
    items = value["items"]
    if items is not None and not isinstance(items, list):
        return [], (*problems, _wrong_type("items", "a list", items))
    return items or [], problems


def _typed_as_item(item: Any, parent: Mapping[str, Any]) -> Any:
    """An item with the type that a list such as a PodList implies for items that do not say theirs."""
    kind = parent["kind"].removesuffix(_LIST)
    if not isinstance(item, dict) or not kind:
        return item
    implied = {"apiVersion": parent.get("apiVersion"), "kind": kind}
    missing = {name: value for name, value in implied.items() if item.get(name) is None}
    return {**implied, **item, **missing}


def object_problems(value: Any, rules: Sequence[ObjectRule]) -> tuple[str, ...]:
    """Everything that keeps a value from being an object that can be looked up and selected."""
    if not isinstance(value, dict):
        return (_wrong_type("", "a mapping", value),)
    return tuple(problem for rule in rules for problem in rule(value))


def _type_is_unknown(value: Mapping[str, Any]) -> Iterator[str]:
    """An object says its version and its kind."""
    for name in ("apiVersion", "kind"):
        if _is_absent(value.get(name)):
            yield f"{an_object(value)} without {name}"
        elif not isinstance(value[name], str):
            yield _wrong_type(name, "a string", value[name])


def _name_is_missing(value: Mapping[str, Any]) -> Iterator[str]:
    """An object has a name; one that a server is to invent cannot be referred to."""
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield _wrong_type("metadata", "a mapping", metadata)
    elif _is_absent((metadata or {}).get("name")):
        yield f"{an_object(value)} without a name"


def _name_cannot_be_made(value: Mapping[str, Any]) -> Iterator[str]:
    """Who sends an object may leave its name to the server; the review of a request has none."""
    if value.get("kind") != _REVIEW and _is_absent(_mapping(value.get("metadata")).get("generateName")):
        yield from _name_is_missing(value)


def _metadata_is_no_text(value: Mapping[str, Any]) -> Iterator[str]:
    """Names, and what else a server writes into metadata as a text, are texts."""
    metadata = _mapping(value.get("metadata"))
    for name in _TEXTS_OF_METADATA:
        if metadata.get(name) is not None and not isinstance(metadata[name], str):
            yield _wrong_type(f"metadata.{name}", "a string", metadata[name])


def _labels_are_no_texts(value: Mapping[str, Any]) -> Iterator[str]:
    """Labels and annotations map texts to texts."""
    metadata = _mapping(value.get("metadata"))
    for name in ("labels", "annotations"):
        entries = metadata.get(name)
        if entries is not None and not isinstance(entries, dict):
            yield _wrong_type(f"metadata.{name}", "a mapping", entries)
        for key, entry in _mapping(entries).items():
            if not isinstance(entry, str):
                yield _wrong_type(f'metadata.{name}["{key}"]', "a string", entry)


OBJECT_RULES: Final = (_type_is_unknown, _name_is_missing, _metadata_is_no_text, _labels_are_no_texts)
SENT_OBJECT_RULES: Final = (_type_is_unknown, _name_cannot_be_made, _metadata_is_no_text, _labels_are_no_texts)


def _is_absent(value: Any) -> bool:
    return value is None or value == ""


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one in the place of anything else: its type is another rule's matter."""
    return value if isinstance(value, dict) else {}


def an_object(value: Mapping[str, Any]) -> str:
    """An object by its kind, with the article."""
    kind = value.get("kind")
    name = kind if kind and isinstance(kind, str) else "object"
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def _wrong_type(path: str, wanted: str, value: Any) -> str:
    """That the value of a field is of another type; says how to mend it where that is likely what was meant."""
    advice = " (quote it)" if wanted == "a string" and isinstance(value, int | float) else ""
    return f"{path}: must be {wanted}, got {_shown(value)}{advice}".removeprefix(": ")


def _shown(value: Any) -> str:
    """A value, short, as JSON spells it; of a text no more than that it is one: it may be a password."""
    for shape, words in _SHAPES:
        if isinstance(value, shape):
            return words
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
