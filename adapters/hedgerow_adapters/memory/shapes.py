"""How parsed JSON becomes an object as the API server keeps it: typed, without unknown fields, without what is empty.

A shape decides what remains of a value; none means that the field is left out. Nothing here knows any kind of object.
What a shape returns shares no container with what it was given.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Shape: TypeAlias = Callable[[Any, str], Any]
"""Takes a value and its path, returns what is kept of it; none: nothing."""
OTHERS: Final = "*"
"""Stands in a literal for all fields that it does not name."""
_JSON_NAMES: Final = {
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


class ShapeError(Exception):
    """A value is of a type that its field cannot hold."""


def shape_of(literal: Any) -> Shape:
    """The shape that a literal stands for.

    `{name: shape}` is an object with these fields and no others, kept where it is given, even without fields. `[shape]`
    is a list, left out where it is empty; null stands in it for the object without fields.
    """
    if isinstance(literal, Mapping):
        return _object({name: shape_of(shape) for name, shape in literal.items()})
    if isinstance(literal, list):
        return _list(shape_of(literal[0]))
    shape: Shape = literal
    return shape


def _object(fields: dict[str, Shape]) -> Shape:
    others = fields.pop(OTHERS, None)

    def decode(value: Any, path: str) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, (dict, Mapping)):
            raise _mismatch(value, path, "object")
        prefix, kept = f"{path}." if path else "", {}
        for name, item in value.items():
            shape = fields.get(name, others)
            if shape is not None and (decoded := shape(item, f"{prefix}{name}")) is not None:
                kept[name] = decoded
        return kept

    return decode


def _list(shape: Shape) -> Shape:
    def decode(value: Any, path: str) -> list[Any] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise _mismatch(value, path, "list")
        return [shape({} if item is None else item, f"{path}[{index}]") for index, item in enumerate(value)] or None

    return decode


def anything(value: Any, path: str) -> Any:
    """A copy of the value without the null members of its objects."""
    if isinstance(value, (dict, Mapping)):
        return {key: anything(item, path) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [anything(item, path) for item in value]
    return value


def optional_text(value: Any, path: str) -> str | None:
    """A string; the empty one is kept."""
    if value is None or isinstance(value, str):
        return value
    raise _mismatch(value, path, "string")


def text(value: Any, path: str) -> str | None:
    """A string, left out where it is empty."""
    return optional_text(value, path) or None


def flag(value: Any, path: str) -> bool | None:
    """A boolean."""
    if value is None or isinstance(value, bool):
        return value
    raise _mismatch(value, path, "bool")


def number(value: Any, path: str, bits: int = 32) -> int | None:
    """A whole number of 32 bits."""
    if value is None or (type(value) is int and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)):
        return value
    raise _mismatch(value, path, f"int{bits}")


def long_number(value: Any, path: str) -> int | None:
    """A whole number of 64 bits."""
    return number(value, path, 64)


def _omitted_if_zero(shape: Shape) -> Shape:
    return lambda value, path: shape(value, path) or None


raised_flag: Final = _omitted_if_zero(flag)
nonzero: Final = _omitted_if_zero(number)
nonzero_long: Final = _omitted_if_zero(long_number)


def number_or_text(value: Any, path: str) -> int | str | None:
    """A port by number or by name."""
    return value if isinstance(value, str) else number(value, path)


def _moment(pattern: str, form: str) -> Shape:
    written = re.compile(pattern)

    def decode(value: Any, path: str) -> str | None:
        if value is None or (isinstance(value, str) and written.fullmatch(value)):
            return value
        raise ShapeError(f'parsing time {value!r} of {path} as "{form}": it is not written so')

    return decode


_ZONE: Final = r"(Z|[+-]\d\d:\d\d)"
_SECONDS: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
time: Final = _moment(rf"{_SECONDS}(\.\d+)?{_ZONE}", "2006-01-02T15:04:05Z07:00")
micro_time: Final = _moment(rf"{_SECONDS}\.\d{{6}}{_ZONE}", "2006-01-02T15:04:05.000000Z07:00")
"""A time with exactly six decimals of a second, as Leases and Events have it."""


def text_map(value: Any, path: str) -> dict[str, str] | None:
    """Strings by key, left out where there are none; null stands for the empty string."""
    if value is None:
        return None
    if not isinstance(value, (dict, Mapping)):
        raise _mismatch(value, path, "map[string]string")
    return {key: optional_text(item, path) or "" for key, item in value.items()} or None


def texts(value: Any, path: str) -> list[str] | None:
    """A list of strings, left out where it is empty."""
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise _mismatch(value, path, "[]string")
    return [optional_text(item, path) or "" for item in value] or None


def _mismatch(value: Any, path: str, wanted: str) -> ShapeError:
    given = _JSON_NAMES.get(type(value), "value")
    return ShapeError(f"json: cannot unmarshal {given} into field {path} of type {wanted}")
