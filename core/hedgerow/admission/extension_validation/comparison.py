"""Whether two values mean the same to a controller, and where they differ.

Absent, null, an empty list and an empty object are equal. An empty text in an object equals an absent member, except in
labels and other maps of texts. Numbers are equal by value; a boolean is no number. Quantities and durations are equal
by their amounts where a shape declares them.

Source: webhooks-and-tokens §9.2, SU.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from hedgerow.admission.extension_validation.shape import EACH_ITEM, EACH_MEMBER, Shape
from hedgerow.machinery.failures import json_type, rendered, shortened

_NO_ITEM: Final = object()
"""The item that the shorter of two lists lacks; a null item is another thing."""
_MAPS_OF_TEXTS: Final = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
"""Objects in which an empty text is not the same as an absent one."""
_NOTHING_KNOWN: Final[Mapping[str, Shape]] = {}
_CONFIDENTIAL: Final = re.compile(r"(?:^|\.)(?:userData|content|data)(?![^.\[])")
"""Fields that may hold credentials: scripts and files."""


class _FieldPath(NamedTuple):
    """Where a value stands, as a list of steps: most paths are never spelled."""

    parent: "_FieldPath | None"
    step: str | int
    """Name of a member, or index of an item."""


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    """Such as `ingress[0].ipBlock.cidr`."""
    new: Any
    old: Any

    def __str__(self) -> str:
        """Path and both values, `type: b != a`; confidential values are not shown."""
        path = shortened(self.path)
        if is_confidential(self.path):
            return f"{path}: values differ"
        return f"{path}: {_shown(self.new)} != {_shown(self.old)}"


def same(new: Any, old: Any, expected: Shape | None = None) -> bool:
    """True if two values mean the same; for the arguments see `differences`."""
    return next(differences(new, old, expected), None) is None


def differences(new: Any, old: Any, expected: Shape | None = None) -> Iterator[Difference]:
    """Where two values differ: members in the order of their names, items in the order of the lists.

    Args:
        new: the new value.
        old: the stored one.
        expected: the shape of both; none: no types of fields are known.
    """
    # No recursion, because nothing limits how deep users nest values.
    pending: list[_Pair] = [_Pair(None, expected, new, old)]
    while pending:
        pair = pending.pop()
        if pair.new is pair.old or (_is_empty(pair.new) and _is_empty(pair.old)):
            continue
        inside = _inside(pair)
        if inside is not None:
            pending += reversed(inside)
        elif not _are_equal(pair):
            yield Difference(_spelled(pair.place), pair.new, pair.old)


class _Pair(NamedTuple):
    """Two values at one place, and their shape if it is known."""

    place: _FieldPath | None
    expected: Shape | None
    new: Any
    old: Any


def _inside(pair: _Pair) -> list[_Pair] | None:
    """The pairs of members or items of two objects or lists, one of which may be absent; none for other values."""
    place, expected, new, old = pair
    inside = expected.inside if expected else _NOTHING_KNOWN
    if _is_object(new) and _is_object(old):
        new, old = new or {}, old or {}
        of_each = inside.get(EACH_MEMBER)
        members = (
            _Pair(_FieldPath(place, name), inside.get(name, of_each), new.get(name), old.get(name))
            for name in sorted({*new, *old})
        )
        if place is not None and place.step in _MAPS_OF_TEXTS:
            return list(members)
        return [each for each in members if not (each.new in (None, "") and each.old in (None, ""))]
    if _is_list(new) and _is_list(old):
        items = zip_longest(new or (), old or (), fillvalue=_NO_ITEM)
        return [_Pair(_FieldPath(place, index), inside.get(EACH_ITEM), *both) for index, both in enumerate(items)]
    return None


def _are_equal(pair: _Pair) -> bool:
    """True if two scalars are equal, by their declared type or as JSON."""
    _, expected, new, old = pair
    if new == old:
        return isinstance(new, bool) is isinstance(old, bool)
    if expected is None or expected.json_type.are_equal is None:
        return False
    fits = expected.json_type.fits
    return fits(new) and fits(old) and expected.json_type.are_equal(new, old)


def _spelled(place: _FieldPath | None) -> str:
    steps: list[str] = []
    while place is not None:
        steps.append(f"[{place.step}]" if isinstance(place.step, int) else f".{place.step}")
        place = place.parent
    return "".join(reversed(steps)).removeprefix(".")


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, (dict, Mapping))


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {})


def _shown(value: Any) -> str:
    """A value as messages show it, without the content of objects and lists, which may be confidential."""
    if value is None or value is _NO_ITEM:
        return "<none>"
    if isinstance(value, str):
        return shortened(value)
    return json_type(value) if value and isinstance(value, (Mapping, list)) else rendered(value)


def is_confidential(path: str) -> bool:
    """True if no message may show the field at a path: messages reach logs, audit logs and events."""
    return _CONFIDENTIAL.search(path) is not None
