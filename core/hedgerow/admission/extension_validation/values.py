"""The values of fields: their JSON types, and where two values differ.

Types: a field that is absent or null fits any type. Fields that no rule reads have no type.

Differences: absent, null, an empty list and an empty object are equal. An empty text in an object equals an absent
member, except in labels and other maps of texts. Numbers are equal by value; a boolean is no number. Quantities and
durations are equal by their amounts where a shape declares them.

Source: webhooks-and-tokens §3.2, validators; §9.2, SU.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from returns.pipeline import is_successful

from hedgerow.machinery.failures import FieldErrorType, Problem, json_type, rendered, shortened
from hedgerow.machinery.scalars import parse_duration, parse_quantity

_STEP: Final = re.compile(r"\[]|\{}|[^.\[{]+")
EACH_ITEM: Final = "[]"
EACH_MEMBER: Final = "{}"
_NO_ITEM: Final = object()
"""The item that the shorter of two lists lacks; a null item is another thing."""
_MAPS_OF_TEXTS: Final = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
_CONFIDENTIAL: Final = re.compile(r"(?:^|\.)(?:userData|content|data)(?![^.\[])")
"""Fields that may hold credentials: scripts and files."""


class JsonType(NamedTuple):
    """What may stand in a field."""

    name: str
    fits: Callable[[Any], bool]
    are_equal: Callable[[Any, Any], bool] | None = None
    """True if two values that fit mean the same although they are spelled differently; none: they never do."""


class Shape(NamedTuple):
    """The type of a value, and the shapes of its members or items, by the step that leads there."""

    json_type: JsonType
    inside: Mapping[str, "Shape"]


def _is_base64(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        return False
    return True


def _is_integer(value: Any) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63


def _is_object(value: Any) -> bool:
    return isinstance(value, (dict, Mapping))


TEXT: Final = JsonType("a string", lambda value: isinstance(value, str))
BYTES: Final = JsonType("a string in base64", _is_base64)
INTEGER: Final = JsonType("an integer of 64 bits", _is_integer)
BOOLEAN: Final = JsonType("a boolean", lambda value: isinstance(value, bool))
OBJECT: Final = JsonType("an object", _is_object)
LIST: Final = JsonType("a list", lambda value: isinstance(value, list))
QUANTITY: Final = JsonType(
    "a quantity",
    lambda value: is_successful(parse_quantity(value)),
    lambda value, other: parse_quantity(value).unwrap().equals(parse_quantity(other).unwrap()),
)
DURATION: Final = JsonType(
    "a duration",
    lambda value: isinstance(value, str) and is_successful(parse_duration(value)),
    lambda value, other: parse_duration(value) == parse_duration(other),
)


def shape(fields: Mapping[str, JsonType]) -> Shape:
    """The shape that a table of types by path states; lists and objects on the way to a field need not be stated.

    In a path `[]` stands for every item of a list and `{}` for every member of an object.
    """
    return _shape([(_STEP.findall(path), json_type) for path, json_type in fields.items()])


def _shape(fields: Sequence[tuple[Sequence[str], JsonType]]) -> Shape:
    json_type, below = OBJECT, dict[str, list[tuple[Sequence[str], JsonType]]]()
    for steps, leaf_type in fields:
        if steps:
            below.setdefault(steps[0], []).append((steps[1:], leaf_type))
        else:
            json_type = leaf_type
    return Shape(LIST if EACH_ITEM in below else json_type, {step: _shape(inner) for step, inner in below.items()})


def misfits(value: Any, expected: Shape, path: str = "") -> Iterator[Problem]:
    """The fields of an object that have another type than expected, in the order of the table."""
    if value is None and path:
        return
    if not expected.json_type.fits(value):
        # The value is not shown: it may be of any size.
        problem = f"expected {expected.json_type.name}, got {json_type(value)}"
        yield Problem(path or "object", problem, FieldErrorType.INVALID)
        return
    for step, inner in expected.inside.items():
        if step == EACH_ITEM:
            for index, item in enumerate(value):
                yield from misfits(item, inner, f"{path}[{index}]")
        elif step == EACH_MEMBER:
            for name in sorted(value):
                yield from misfits(value[name], inner, f"{path}.{name}")
        elif (member := value.get(step)) is not None:
            yield from misfits(member, inner, f"{path}.{step}" if path else step)


def is_confidential(path: str) -> bool:
    """True if no message may show the field at a path: messages reach logs, audit logs and events."""
    return _CONFIDENTIAL.search(path) is not None


def same(new: Any, old: Any, expected: Shape | None = None) -> bool:
    """True if two values mean the same; for the arguments see `differences`."""
    return next(differences(new, old, expected), None) is None


_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""Where a value stands: its parent, and the name of the member or index of the item. Most paths are never spelled."""


_Pair: TypeAlias = tuple[_Place, Shape | None, Any, Any]
"""The new and the old value at one place, and their shape if it is known."""


def differences(new: Any, old: Any, expected: Shape | None = None) -> Iterator[str]:
    """Where two values differ, as `ingress[0].ipBlock.cidr: b != a`; confidential values are not shown.

    Members come in the order of their names, items in the order of the lists. Without a shape no types of fields are
    known.
    """
    # No recursion, because nothing limits how deep users nest values.
    pending: list[_Pair] = [(None, expected, new, old)]
    while pending:
        place, expected, new, old = pair = pending.pop()
        if new is old or (_is_empty(new) and _is_empty(old)):
            continue
        inside = _inside(pair)
        if inside is not None:
            pending += reversed(inside)
        elif not _are_equal(pair):
            path = _spelled(place)
            values = "values differ" if is_confidential(path) else f"{_shown(new)} != {_shown(old)}"
            yield f"{shortened(path)}: {values}"


def _inside(pair: _Pair) -> list[_Pair] | None:
    """The pairs of members or items of two objects or lists, one of which may be absent; none for other values."""
    place, expected, new, old = pair
    shapes: Mapping[str, Shape] = expected.inside if expected else {}
    if all(value is None or _is_object(value) for value in (new, old)):
        new, old = new or {}, old or {}
        members: list[_Pair] = [
            ((place, name), shapes.get(name) or shapes.get(EACH_MEMBER), new.get(name), old.get(name))
            for name in sorted({*new, *old})
        ]
        if place is not None and place[1] in _MAPS_OF_TEXTS:
            return members
        return [each for each in members if not all(value in (None, "") for value in each[2:])]
    if all(value is None or isinstance(value, list) for value in (new, old)):
        items = zip_longest(new or (), old or (), fillvalue=_NO_ITEM)
        return [((place, index), shapes.get(EACH_ITEM), *both) for index, both in enumerate(items)]
    return None


def _are_equal(pair: _Pair) -> bool:
    _, expected, new, old = pair
    if new == old:
        return isinstance(new, bool) is isinstance(old, bool)
    if expected is None or expected.json_type.are_equal is None:
        return False
    return expected.json_type.fits(new) and expected.json_type.fits(old) and expected.json_type.are_equal(new, old)


def _spelled(place: _Place) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {})


def _shown(value: Any) -> str:
    """A value as messages show it, without the content of objects and lists, which may be confidential."""
    if value is None or value is _NO_ITEM:
        return "<none>"
    if isinstance(value, str):
        return shortened(value)
    return json_type(value) if value and isinstance(value, (Mapping, list)) else rendered(value)
