"""Whether two values mean the same to a controller, and where they differ.

Absent, null, an empty list and an empty object are one and the same. Numbers are equal by value; a boolean is no
number.

Source: webhooks-and-tokens §9.2, SU.
"""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from hedgerow.admission.extension_validation.confidential import is_confidential
from hedgerow.machinery.fields import rendered, shape_of, shortened

_NO_ITEM: Final = object()
"""Stands for the item that the shorter of two lists lacks; a null item is another thing."""


class _Place(NamedTuple):
    """Where a value stands, told by the step that leads there: most places never have to be spelled."""

    parent: "_Place | None"
    step: str | int
    """Name of a member, or index of an item."""


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    """From the values inwards: `ingress[0].ipBlock.cidr`."""
    new: Any
    old: Any

    def __str__(self) -> str:
        """Path and both values, `type: b != a`; of confidential fields that they differ."""
        path = shortened(self.path)
        if is_confidential(self.path):
            return f"{path}: values differ"
        return f"{path}: {_shown(self.new)} != {_shown(self.old)}"


def same(new: Any, old: Any) -> bool:
    """Whether two values mean the same."""
    return next(differences(new, old), None) is None


def differences(new: Any, old: Any) -> Iterator[Difference]:
    """Where two values differ: members in the order of their names, items in the order of the lists."""
    # No recursion, because nothing limits how deep users nest values.
    pending: list[tuple[_Place | None, Any, Any]] = [(None, new, old)]
    while pending:
        place, new, old = pending.pop()
        if new is old or (_is_empty(new) and _is_empty(old)):
            continue
        inside = _inside(place, new, old)
        if inside is not None:
            pending += reversed(inside)
        elif new != old or isinstance(new, bool) is not isinstance(old, bool):
            yield Difference(_spelled(place), new, old)


def _inside(place: _Place | None, new: Any, old: Any) -> list[tuple[_Place | None, Any, Any]] | None:
    """What to compare instead of two objects or two lists, either of which may be absent; none for other values."""
    if _is_object(new) and _is_object(old):
        new, old = new or {}, old or {}
        return [(_Place(place, name), new.get(name), old.get(name)) for name in sorted({*new, *old})]
    if _is_list(new) and _is_list(old):
        items = zip_longest(new or (), old or (), fillvalue=_NO_ITEM)
        return [(_Place(place, index), *pair) for index, pair in enumerate(items)]
    return None


def _spelled(place: _Place | None) -> str:
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
    """What a text says of a value; what is inside of objects and lists may be confidential."""
    if value is None or value is _NO_ITEM:
        return "<none>"
    if isinstance(value, str):
        return shortened(value)
    return shape_of(value) if value and isinstance(value, (Mapping, list)) else rendered(value)
