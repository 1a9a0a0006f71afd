"""How parsed JSON becomes an object as the API server keeps it: typed, without unknown fields, without what is empty.

A shape decides what remains of a value; none means that the field is left out. Nothing here knows any kind of object.
What a shape returns shares no container with what it was given.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Shape: TypeAlias = Callable[[Any, str], Any]
"""Takes a value and its path, returns what is kept of it; none: nothing."""

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_MICRO_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(-(2**63), 2**63)
_JSON_NAMES: Final = {
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


class ShapeError(Exception):
    """A value is of a type that its field cannot hold."""


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


def raised_flag(value: Any, path: str) -> bool | None:
    """A boolean, left out where it is false."""
    return flag(value, path) or None


def number(value: Any, path: str) -> int | None:
    """A 32-bit whole number."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value in _INT32:
        return value
    raise _mismatch(value, path, "int32")


def nonzero(value: Any, path: str) -> int | None:
    """A 32-bit whole number, left out where it is 0."""
    return number(value, path) or None


def whole_number(value: Any, path: str) -> int | None:
    """A 64-bit whole number."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value in _INT64:
        return value
    raise _mismatch(value, path, "int64")


def long_number(value: Any, path: str) -> int | None:
    """A 64-bit whole number, left out where it is 0."""
    return whole_number(value, path) or None


def number_or_text(value: Any, path: str) -> int | str | None:
    """A port by number or by name."""
    return optional_text(value, path) if isinstance(value, str) else number(value, path)


def micro_time(value: Any, path: str) -> str | None:
    """A time with exactly six decimals of a second, as Leases and Events have it."""
    if value is None:
        return None
    if isinstance(value, str) and _MICRO_TIME.fullmatch(value):
        return value
    raise ShapeError(f'parsing time {value!r} of {path} as "2006-01-02T15:04:05.000000Z07:00": it is not written so')


def time(value: Any, path: str) -> str | None:
    """A time in whole seconds, with its offset from UTC."""
    if value is None or (isinstance(value, str) and _TIME.fullmatch(value)):
        return value
    if not isinstance(value, str):
        raise _mismatch(value, path, "Time")
    raise ShapeError(f'parsing time {value!r} of {path} as "2006-01-02T15:04:05Z07:00": it is not written so')


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


def list_of(shape: Shape) -> Shape:
    """A list of objects, left out where it is empty; null stands for the object without fields."""

    def decode(value: Any, path: str) -> list[Any] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise _mismatch(value, path, "list")
        return [shape({} if item is None else item, f"{path}[{index}]") for index, item in enumerate(value)] or None

    return decode


def structure(fields: Mapping[str, Shape]) -> Shape:
    """An object with these fields and no others; kept where it is given, even without fields."""

    def decode(value: Any, path: str) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, (dict, Mapping)):
            raise _mismatch(value, path, "object")
        prefix = f"{path}." if path else ""
        kept = {name: fields[name](item, f"{prefix}{name}") for name, item in value.items() if name in fields}
        return {name: item for name, item in kept.items() if item is not None}

    return decode


def open_structure(fields: Mapping[str, Shape]) -> Shape:
    """An object with fields of certain shapes; others may be there, and are kept as they are."""
    known = structure(fields)

    def decode(value: Any, path: str) -> dict[str, Any] | None:
        kept = known(value, path)
        if kept is None:
            return None
        others = {name: item for name, item in value.items() if name not in fields}
        return {**anything(others, path), **kept}

    return decode


def _mismatch(value: Any, path: str, wanted: str) -> ShapeError:
    given = _JSON_NAMES.get(type(value), "value")
    return ShapeError(f"json: cannot unmarshal {given} into field {path} of type {wanted}")
