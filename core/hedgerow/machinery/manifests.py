"""Plain manifests that no API server has checked: what every object must have.

Decides on values alone. What the kinds mean, and whether the rest of an object is valid, is not known here.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.machinery.failures import Problem

_REVIEW: Final = "AdmissionReview"
_LONGEST_SHOWN: Final = 40
_SHAPES: Final = ((dict, "a mapping"), (list, "a list"), (str, "a string"))
_TEXTS_OF_METADATA: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp", "selfLink"),
)
_Rule: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Problem]]
"""Everything of one sort that is wrong with an object."""


def object_problems(value: Any, *, sent: bool = False) -> tuple[Problem, ...]:
    """Everything that keeps a value from being an object that can be looked up and selected.

    Args:
        value: any JSON value.
        sent: whether it is as somebody sends it to an API server, and not as one holds it: its name may be left to the
            server, and an AdmissionReview has none.
    """
    if not isinstance(value, dict):
        return (wrong_type("", "a mapping", value),)
    return tuple(problem for rule in (_SENT_RULES if sent else _RULES) for problem in rule(value))


def type_problems(value: Mapping[str, Any]) -> Iterator[Problem]:
    """An object says its version and its kind."""
    for name in ("apiVersion", "kind"):
        if _is_absent(value.get(name)):
            yield Problem("", f"{an_object(value)} without {name}")
        elif not isinstance(value[name], str):
            yield wrong_type(name, "a string", value[name])


def _name_is_missing(value: Mapping[str, Any]) -> Iterator[Problem]:
    """An object has a name; one that a server is to invent cannot be referred to."""
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield wrong_type("metadata", "a mapping", metadata)
    elif _is_absent((metadata or {}).get("name")):
        yield Problem("", f"{an_object(value)} without a name")


def _name_cannot_be_made(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Who sends an object may leave its name to the server; the review of a request has none."""
    if value.get("kind") != _REVIEW and _is_absent(_mapping(value.get("metadata")).get("generateName")):
        yield from _name_is_missing(value)


def _metadata_is_no_text(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Names, and what else a server writes into metadata as a text, are texts."""
    metadata = _mapping(value.get("metadata"))
    for name in _TEXTS_OF_METADATA:
        if metadata.get(name) is not None and not isinstance(metadata[name], str):
            yield wrong_type(f"metadata.{name}", "a string", metadata[name])


def _labels_are_no_texts(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Labels and annotations map texts to texts."""
    metadata = _mapping(value.get("metadata"))
    for name in ("labels", "annotations"):
        entries = metadata.get(name)
        if entries is not None and not isinstance(entries, dict):
            yield wrong_type(f"metadata.{name}", "a mapping", entries)
        for key, entry in _mapping(entries).items():
            if not isinstance(entry, str):
                yield wrong_type(f"metadata.{name}[{key}]", "a string", entry)


def _lists_are_none(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Finalizers are a list of texts, owner references one of objects."""
    metadata = _mapping(value.get("metadata"))
    for name, shape, words in (("finalizers", str, "a string"), ("ownerReferences", dict, "a mapping")):
        entries = metadata.get(name)
        if entries is not None and not isinstance(entries, list):
            yield wrong_type(f"metadata.{name}", "a list", entries)
            continue
        for position, entry in enumerate(entries or ()):
            if not isinstance(entry, shape):
                yield wrong_type(f"metadata.{name}[{position}]", words, entry)


_RULES: Final[tuple[_Rule, ...]] = (
    type_problems,
    _name_is_missing,
    _metadata_is_no_text,
    _labels_are_no_texts,
    _lists_are_none,
)
_SENT_RULES: Final[tuple[_Rule, ...]] = (type_problems, _name_cannot_be_made, *_RULES[2:])


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


def wrong_type(path: str, wanted: str, value: Any) -> Problem:
    """That the value of a field is of another type; says how to mend it where that is likely what was meant."""
    advice = " (quote it)" if wanted == "a string" and isinstance(value, int | float) else ""
    return Problem(path, f"must be {wanted}, got {_shown(value)}{advice}")


def _shown(value: Any) -> str:
    """A value, short, as JSON spells it; of a text no more than that it is one: it may be a password."""
    for shape, words in _SHAPES:
        if isinstance(value, shape):
            return words
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
