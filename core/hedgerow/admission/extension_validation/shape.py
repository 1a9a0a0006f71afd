"""Which JSON types the fields must have that rules read, so that the rules need not check them.

A field that is absent or null fits any type. Fields that no rule reads are not checked.

Source: webhooks-and-tokens §3.2, validators.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from returns.pipeline import is_successful

from hedgerow.machinery.failures import FieldErrorType, Problem, json_type
from hedgerow.machinery.scalars import parse_duration, parse_quantity

_STEP: Final = re.compile(r"\[]|\{}|[^.\[{]+")
EACH_ITEM: Final = "[]"
EACH_MEMBER: Final = "{}"


class JsonType(NamedTuple):
    """What may stand in a field."""

    name: str
    """With its article."""
    fits: Callable[[Any], bool]
    are_equal: Callable[[Any, Any], bool] | None = None
    """Whether two values that fit mean the same although they are spelled differently; none: they never do."""


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


TEXT: Final = JsonType("a string", lambda value: isinstance(value, str))
BYTES: Final = JsonType("a string in base64", _is_base64)
INTEGER: Final = JsonType("an integer of 64 bits", _is_integer)
BOOLEAN: Final = JsonType("a boolean", lambda value: isinstance(value, bool))
OBJECT: Final = JsonType("an object", lambda value: isinstance(value, (dict, Mapping)))
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
    """The shape that a table of fields states.

    Args:
        fields: types by path, where `[]` stands for every item of a list and `{}` for every member of an object. Lists
            and objects on the way to a field need not be stated.
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


def misfits(manifest: Any, expected: Shape) -> tuple[Problem, ...]:
    """The fields of an object that have another type than expected, in the order of the table."""
    return tuple(_misfits(manifest, "", expected))


def _misfits(value: Any, path: str, expected: Shape) -> Iterator[Problem]:
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
                yield from _misfits(item, f"{path}[{index}]", inner)
        elif step == EACH_MEMBER:
            for name in sorted(value):
                yield from _misfits(value[name], f"{path}.{name}", inner)
        elif (member := value.get(step)) is not None:
            yield from _misfits(member, f"{path}.{step}" if path else step, inner)
