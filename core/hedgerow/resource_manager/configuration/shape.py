"""What a section of a configuration file may look like: names, JSON types, and what to say where they differ.

Reads a parsed document into typed sections and names every field that it does not know. It knows no particular section,
no default and no rule about values.

`null` means the same as an absent field, as it does in the reference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar

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
    "invalid_key": "a string as the name of a field",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
}
"""The JSON type that each of pydantic's complaints asks for, by the complaint's type."""
_UNREADABLE: Final = "unreadable"
"""The type of our own complaints, whose message is complete."""
_INT32_LIMIT: Final = 2**31


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
    kept aside, for `unknown_fields`.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False, alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        declared = {field.alias for field in cls.model_fields.values()}
        return {name: item for name, item in value.items() if item is not None or name not in declared}

    def problems(self, _path: str, *, offline: bool) -> Iterator[FieldError]:  # noqa: ARG002  # other sections ask
        """Every rule that the section's values break once their defaults are filled in; this section has no rules.

        Args:
            _path: where the section stands, from the top of the document.
            offline: whether no process is to run in a cluster, so that what only such a process needs may be missing.
        """
        yield from ()

    def remarks(self, _path: str) -> Iterator[str]:
        """What a user should know of a section that is none the less valid, a sentence each; here nothing."""
        yield from ()


S = TypeVar("S", bound=Section)


def read(shape: type[S], document: object) -> Result[S, tuple[ShapeError, ...]]:
    """The document as a section, or every value that has a wrong type."""
    try:
        return Success(shape.model_validate(document))
    except ValidationError as error:
        return Failure(tuple(map(_shape_error, error.errors(include_url=False))))


def unknown_fields(section: Section, path: str = "") -> Iterator[str]:
    """The full path of every field that no section declares."""
    for name in section.model_extra or {}:
        yield child(path, name)
    for at, subsection in subsections(section, path):
        yield from unknown_fields(subsection, at)


def subsections(section: Section, path: str = "") -> Iterator[tuple[str, Section]]:
    """The sections directly below a section with their paths, those in lists included, in the order of declaration."""
    for name, field in type(section).model_fields.items():
        value, at = getattr(section, name), child(path, field.alias or name)
        if isinstance(value, Section):
            yield at, value
        elif isinstance(value, list):
            yield from ((f"{at}[{index}]", item) for index, item in enumerate(value) if isinstance(item, Section))


def child(path: str, name: str) -> str:
    """The path of a field below a path; below the empty one the name alone."""
    return f"{path}.{name}" if path else name


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise _unreadable(f'expected a duration such as "1h30m0s", got {_json_type(value)}')
    match parse_duration(value):
        case Success(duration):
            return duration
        case Failure(problem):
            raise _unreadable(f"{problem}, got {rendered(value)}")
    raise AssertionError


def _within_32_bits(value: int) -> int:
    if -_INT32_LIMIT <= value < _INT32_LIMIT:
        return value
    raise _unreadable(f"expected an integer of 32 bits, got {value}")


Duration = Annotated[timedelta, PlainValidator(_duration)]
"""A duration in Go's spelling; always a string."""
Int32 = Annotated[int, AfterValidator(_within_32_bits)]
"""An integer of 32 bits with a sign."""


def _unreadable(message: str) -> PydanticCustomError:
    return PydanticCustomError(_UNREADABLE, "{message}", {"message": message})


def _shape_error(error: ErrorDetails) -> ShapeError:
    """A complaint of pydantic's in our words."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).removeprefix(".")
    expected = _EXPECTED.get(error["type"])
    if expected is None:
        return ShapeError(path, error["msg"])
    return ShapeError(path, f"expected {expected}, got {_json_type(error['input'])}")


def _json_type(value: object) -> str:
    """What a value is, in words for people who write YAML or JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case list():
            return "a list"
        case _:
            return f"a {type(value).__name__}"
