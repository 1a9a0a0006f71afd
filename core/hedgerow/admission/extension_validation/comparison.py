"""Whether two values mean the same to a controller, and where they differ.

Absent, null, an empty list and an empty object are one and the same. Numbers are equal by value; a boolean is no
number.

Source: webhooks-and-tokens §9.2, SU.
"""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from hedgerow.machinery.fields import rendered

_NO_ITEM: Final = object()
"""Stands for the item that the shorter of two lists lacks; a null item is another thing."""


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    """From the values inwards: `ingress[0].ipBlock.cidr`."""
    new: Any
    old: Any

    def __str__(self) -> str:
        """Path and both values: `type: b != a`."""
        return f"{self.path}: {_shown(self.new)} != {_shown(self.old)}"


def same(new: Any, old: Any) -> bool:
    """Whether two values mean the same."""
    return next(differences(new, old), None) is None


def differences(new: Any, old: Any) -> Iterator[Difference]:
    """Where two values differ: members in the order of their names, items in the order of the lists."""
    # No recursion, because nothing limits how deep users nest values.
    pending = [Difference("", new, old)]
    while pending:
        path, new, old = place = pending.pop()
        if new is old or (_is_empty(new) and _is_empty(old)):
            continue
        inside = _inside(path, new, old)
        if inside is not None:
            pending += reversed(inside)
        elif new != old or isinstance(new, bool) is not isinstance(old, bool):
            yield place


def _inside(path: str, new: Any, old: Any) -> list[Difference] | None:
    """What to compare instead of two objects or two lists, either of which may be absent; none for other values."""
    if _is_object(new) and _is_object(old):
        new, old = new or {}, old or {}
        inside = f"{path}." if path else ""
        return [Difference(f"{inside}{name}", new.get(name), old.get(name)) for name in sorted({*new, *old})]
    if _is_list(new) and _is_list(old):
        items = zip_longest(new or (), old or (), fillvalue=_NO_ITEM)
        return [Difference(f"{path}[{index}]", *pair) for index, pair in enumerate(items)]
    return None


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, (dict, Mapping))


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {})


def _shown(value: Any) -> str:
    if value is None or value is _NO_ITEM:
        return "<none>"
    return value if isinstance(value, str) else rendered(value)
