"""Values that decisions are made from and come to, as JSON, and back to equal values.

Manifests stay as they are, so that people can read them. Everything that JSON cannot tell apart or does not know is an
object whose first member, `$`, says what it is: a record by its type and its fields, a member of an enumeration by its
name, and the few standard types below. A type is known by where it stands in this package; whoever moves or changes one
cannot read older records of it, and is told so.
"""

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from importlib import import_module
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
"""What `json.loads` yields."""

_TAG: Final = "$"
_PACKAGE: Final = "hedgerow."
_TYPE_NAME: Final = re.compile(r"[a-z_0-9.]+\.[A-Za-z_0-9]+")


class UnrecordableError(Exception):
    """A value is of a type that a record cannot hold."""

    def __init__(self, value: object) -> None:
        kind = type(value)
        super().__init__(f"a record cannot hold a value of type {kind.__module__}.{kind.__qualname__}")


class UnknownValueError(Exception):
    """What a record holds is no value that this version of the program knows."""


def encoded(value: object) -> Json:
    """A value as JSON.

    Args:
        value: JSON values, records (frozen dataclasses, named tuples, enumerations) of this package, and tuples, sets,
            mappings, bytes, times and durations of such. Numbers with a name, such as an HTTP status, are numbers.

    Raises:
        UnrecordableError: something in it is of another type.
    """
    # The types of manifests come first: nearly everything is made of them.
    kind = type(value)
    if value is None or kind is str or kind is bool or kind is int:
        return value
    if isinstance(value, (dict, Mapping)):
        return _encoded_mapping(value)
    if kind is list:
        return [encoded(each) for each in value]  # type: ignore[attr-defined]  # a list by its type
    return _encoded_otherwise(value)


def canonical(value: Json) -> str:
    """JSON as a text that is the same for equal values."""
    return json.dumps(value, sort_keys=True)


def _encoded_mapping(value: Mapping[Any, Any]) -> Json:
    if all(type(name) is str and not name.startswith(_TAG) for name in value):
        return {name: encoded(each) for name, each in value.items()}
    return {_TAG: "map", "of": [[encoded(name), encoded(each)] for name, each in value.items()]}


def _encoded_otherwise(value: object) -> Json:
    if isinstance(value, IntEnum) and not _is_ours(value):
        return int(value)
    if isinstance(value, Enum):
        return {_TAG: _name(value), "is": value.name}
    for kind, encode in _ENCODINGS:
        if isinstance(value, kind) and not hasattr(value, "_fields"):
            return encode(value)
    return {_TAG: _name(value), **{name: encoded(getattr(value, name)) for name in _members(value)}}


def _encoded_float(value: float) -> Json:
    return value if math.isfinite(value) else {_TAG: "float", "is": str(value)}


def _encoded_set(value: Iterable[object]) -> Json:
    return {_TAG: "frozenset", "of": sorted((encoded(each) for each in value), key=canonical)}


_ENCODINGS: Final[Sequence[tuple[type, Callable[[Any], Json]]]] = (
    (float, _encoded_float),
    (tuple, lambda value: {_TAG: "tuple", "of": [encoded(each) for each in value]}),
    (frozenset, _encoded_set),
    (bytes, lambda value: {_TAG: "bytes", "is": b64encode(value).decode()}),
    (datetime, lambda value: {_TAG: "datetime", "is": value.isoformat()}),
    (timedelta, lambda value: {_TAG: "timedelta", "of": [value.days, value.seconds, value.microseconds]}),
)


def _members(record: object) -> Iterable[str]:
    """The names of a record's fields."""
    if is_dataclass(record) and not isinstance(record, type):
        return [each.name for each in fields(record)]
    if isinstance(record, tuple) and hasattr(record, "_fields"):
        names: Iterable[str] = record._fields
        return names
    raise UnrecordableError(record)


def _is_ours(value: object) -> bool:
    kind = type(value)
    return kind.__module__.startswith(_PACKAGE) and "." not in kind.__qualname__


def _name(value: object) -> str:
    kind = type(value)
    if not _is_ours(value):
        raise UnrecordableError(value)
    return f"{kind.__module__.removeprefix(_PACKAGE)}.{kind.__qualname__}"


def decoded(value: Json) -> Any:
    """The value that JSON stands for.

    Raises:
        UnknownValueError: this version knows no such value.
    """
    if isinstance(value, list):
        return [decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(_TAG)
    if tag is None:
        return {name: decoded(each) for name, each in value.items()}
    try:
        return _STANDARD[tag](value) if tag in _STANDARD else _record(tag, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnknownValueError(f"{_shown(tag)}: {error}") from error


def _all(items: Iterable[Json]) -> list[Any]:
    return [decoded(each) for each in items]


_STANDARD: Final[Mapping[str, Callable[[Any], Any]]] = {
    "map": lambda value: {decoded(name): decoded(each) for name, each in value["of"]},
    "tuple": lambda value: tuple(_all(value["of"])),
    "frozenset": lambda value: frozenset(_all(value["of"])),
    "float": lambda value: float(value["is"]),
    "bytes": lambda value: b64decode(value["is"], validate=True),
    "datetime": lambda value: datetime.fromisoformat(value["is"]),
    "timedelta": lambda value: timedelta(*value["of"]),
}


def _record(tag: Any, value: Mapping[str, Json]) -> Any:
    """A record of a type of this package; the file may name no other."""
    kind = _type(tag)
    if issubclass(kind, Enum):
        return kind[value["is"]]
    members = {name: decoded(each) for name, each in value.items() if name != _TAG}
    if not is_dataclass(kind) and not hasattr(kind, "_fields"):
        raise UnknownValueError(f"{_shown(tag)} is no record")
    return kind(**members)


def _type(tag: Any) -> type:
    if not isinstance(tag, str) or not _TYPE_NAME.fullmatch(tag):
        raise UnknownValueError(f"{_shown(tag)} is not the name of a type")
    module, _, name = tag.rpartition(".")
    try:
        kind = getattr(import_module(_PACKAGE + module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownValueError(f"there is no type {tag}") from error
    if not isinstance(kind, type):
        raise UnknownValueError(f"{tag} is not a type")
    return kind


def _shown(tag: Any) -> str:
    return str(tag)[:100]
