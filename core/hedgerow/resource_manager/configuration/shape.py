"""What a section of a configuration file may look like: names, JSON types, and what to say where they differ.

Reads a parsed document into typed sections and names every field that it does not know. It knows no particular section,
no default and no rule about values.

`null` means the same as an absent field, as it does in the reference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from functools import reduce
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError
from returns.result import Failure, Result, Success

from hedgerow.machinery.durations import parse_duration
from hedgerow.machinery.fields import FieldError, rendered

_EXPECTED: Final = {
    "bool_type": "a boolean",
    "dict_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "an integer",
    "invalid_key": "a string as key",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
}
"""The JSON type that each of pydantic's complaints asks for, by the complaint's type."""
_JSON_TYPES: Final = (
    (NoneType, "null"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a decimal number"),
    (str, "a string"),
    (Mapping, "an object"),
    (list, "a list"),
)
"""The first that fits counts: Python takes a boolean for an integer."""
_UNREADABLE: Final = "unreadable"
"""The type of our own complaints, whose message is complete."""
_KEY: Final = "[key]"
"""How pydantic ends the place of a key, as opposed to the value behind it."""


class Purpose(Enum):
    """What a configuration is read for."""

    RUN = auto()
    """A process in a cluster: everything that it needs must be there."""
    OFFLINE = auto()
    """A command that runs controllers by name, whether the file enables them or not, and competes for no lease."""


@dataclass(frozen=True, slots=True)
class ShapeError:
    """A value of another JSON type than its field takes, or an unreadable one."""

    path: str
    """The field from the top of the document; empty: the document itself."""
    problem: str

    def __str__(self) -> str:
        """Path and problem: `controllers.networkPolicy.concurrentSyncs: expected an integer, got a string`."""
        return f"{self.path}: {self.problem}" if self.path else self.problem


class Section(BaseModel):
    """An object in a configuration file: its fields, their types, and what they are when the file leaves them out.

    Types are strict: no text passes for a number, no number for a boolean. Fields that a section does not declare are
    kept aside, for `warnings`.
    """

    idle: ClassVar[tuple[str, ...]] = ()
    """The attributes of fields that nothing acts on; a user is told who sets one to another value than its default."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False, alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        declared = {field.alias for field in cls.model_fields.values()}
        return {name: item for name, item in value.items() if item is not None or name not in declared}

    @property
    def remark(self) -> str:
        """What a user should know who writes this section, although it is valid; one clause, mostly empty."""
        return ""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Every rule that the section's values break once their defaults are filled in; here those of its subsections.

        Args:
            path: where the section stands, from the top of the document.
            purpose: what the configuration is read for.
        """
        for at, subsection in subsections(self, path):
            yield from subsection.problems(at, purpose)


S = TypeVar("S", bound=Section)


def read(shape: type[S], document: object) -> Result[S, tuple[ShapeError, ...]]:
    """The document as a section, or every value that has a wrong type."""
    try:
        return Success(shape.model_validate(document))
    except ValidationError as error:
        return Failure(tuple(map(_shape_error, error.errors(include_url=False))))


def warnings(section: Section, path: str = "") -> Iterator[str]:
    """What a user should know of a valid section and those below it: remarks, idle fields, fields not declared."""
    if section.remark:
        yield f"{path}: {section.remark}"
    for attribute in section.idle:
        field = type(section).model_fields[attribute]
        if getattr(section, attribute) != field.default:
            yield f"{child(path, field.alias or attribute)}: this field is not acted on in this version"
    for name in section.model_extra or {}:
        yield f"{child(path, name)}: unknown field, ignored"
    for at, subsection in subsections(section, path):
        yield from warnings(subsection, at)


def subsections(section: Section, path: str = "") -> Iterator[tuple[str, Section]]:
    """The sections directly below a section with their paths, those in lists included, in the order of declaration."""
    for name, field in type(section).model_fields.items():
        value, at = getattr(section, name), child(path, field.alias or name)
        if isinstance(value, Section):
            yield at, value
        elif isinstance(value, list):
            yield from ((f"{at}[{index}]", item) for index, item in enumerate(value) if isinstance(item, Section))


def child(path: str, name: str) -> str:
    """The path of a field below a path: behind a dot, or in brackets where the name might hold dots itself."""
    if not name.isalnum():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise _unreadable(f'expected a duration such as "1h30m0s", got {json_type(value)}')
    duration = parse_duration(value)
    if isinstance(duration, Failure):
        raise _unreadable(f"{duration.failure()}, got {rendered(value)}")
    return duration.unwrap()


def _of_bits(bits: int) -> AfterValidator:
    def checked(value: int) -> int:
        if (value if value >= 0 else ~value).bit_length() < bits:
            return value
        raise _unreadable(f"expected an integer of {bits} bits, got a longer one")

    return AfterValidator(checked)


Duration = Annotated[timedelta, PlainValidator(_duration)]
"""A duration in Go's spelling; always a string."""
Int32 = Annotated[int, _of_bits(32)]
Int64 = Annotated[int, _of_bits(64)]
"""Integers as the reference reads them, one bit for the sign."""


def _unreadable(message: str) -> PydanticCustomError:
    return PydanticCustomError(_UNREADABLE, "{message}", {"message": message})


def _shape_error(error: ErrorDetails) -> ShapeError:
    """A complaint of pydantic's in our words."""
    place, expected = error["loc"], _EXPECTED.get(error["type"])
    if place and place[-1] == _KEY:
        place, expected = place[:-1], _EXPECTED["invalid_key"]
    path = reduce(_below, place, "")
    if expected is None:
        return ShapeError(path, error["msg"])
    found = error["input"]
    got = rendered(found) if isinstance(found, float) else json_type(found)
    return ShapeError(path, f"expected {expected}, got {got}")


def _below(path: str, part: int | str) -> str:
    return f"{path}[{part}]" if isinstance(part, int) else child(path, part)


def json_type(value: object) -> str:
    """What a value is, in words for people who write YAML or JSON."""
    named = (name for type_, name in _JSON_TYPES if isinstance(value, type_))
    return next(named, f"a {type(value).__name__}")
