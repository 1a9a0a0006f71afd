"""The base of all API types: reads untrusted documents into types, and tells what does not fit.

Knows no particular type, no default and no rule about values. As to an API server, `null` means an absent field.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError
from returns.result import Failure, Result, Success

from hedgerow.machinery.failures import Problem, child, perhaps, rendered, unknown_fields, wrong_type
from hedgerow.machinery.scalars import parse_timestamp

_EXPECTED: Final = {
    "bool_type": "a boolean",
    "dict_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "an integer",
    "invalid_key": "a string as key",
    "list_type": "a list",
    "mapping_type": "an object",
    "model_type": "an object",
    "string_type": "a string",
    "tuple_type": "a list",
}
"""The expected JSON type, by the type of pydantic's error."""
_KEY: Final = "[key]"
"""The end of the place of a key, as opposed to that of its value."""


class Typed(BaseModel):
    """An object in a document: its fields, their types and their defaults.

    Types are strict: no text passes for a number, no number for a boolean. Undeclared fields are kept and written.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False, alias_generator=to_camel)

    said_by_documents: ClassVar[tuple[str, ...]] = ()
    """Fields that are optional in Python, and required in documents."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        declared = {field.alias for field in cls.model_fields.values()}
        return {name: item for name, item in value.items() if item is not None or name not in declared}


T = TypeVar("T", bound=Typed)
Item = TypeVar("Item")


def read(shape: type[T], document: object) -> Result[T, tuple[Problem, ...]]:
    """The document as a type, or every value in it that does not fit."""
    said = document if isinstance(document, Mapping) else dict.fromkeys(shape.said_by_documents, "")
    unsaid = tuple(Problem(name, "must be set") for name in shape.said_by_documents if said.get(name) is None)
    try:
        read_as = shape.model_validate(document)
    except ValidationError as error:
        return Failure((*unsaid, *(_shape_error(shape, each) for each in error.errors(include_url=False))))
    return Failure(unsaid) if unsaid else Success(read_as)


def unreadable(message: str) -> PydanticCustomError:
    """The error of a value of the right type that still cannot be read; the message is complete."""
    return PydanticCustomError("unreadable", "{message}", {"message": message})


def _of_bits(bits: int) -> AfterValidator:
    def checked(value: int) -> int:
        if (value if value >= 0 else ~value).bit_length() < bits:
            return value
        raise unreadable(f"expected an integer of {bits} bits, got a longer one")

    return AfterValidator(checked)


def _moment(value: str) -> str:
    if parse_timestamp(value) is None:
        raise unreadable(f'expected a time such as "2026-01-01T12:00:00Z", got {rendered(value)}')
    return value


Int32 = Annotated[int, _of_bits(32), "int32"]
Int64 = Annotated[int, _of_bits(64), "int64"]
"""Integers as Go reads them, one bit for the sign; behind the check stands the format, as OpenAPI names it."""
Time = Annotated[str, AfterValidator(_moment), "date-time"]
"""A timestamp, as it is spelled."""
Items = Annotated[tuple[Item, ...], Field(strict=False)]
"""An immutable list; strict types would refuse a list."""


def _shape_error(shape: type[Typed], error: ErrorDetails) -> Problem:
    """An error of pydantic's, in our words."""
    place, expected = error["loc"], _EXPECTED.get(error["type"])
    if place and place[-1] == _KEY:
        place, expected = place[:-1], _EXPECTED["invalid_key"]
    path = reduce(_below, place, "")
    if error["type"] == "missing":
        return Problem(path, "must be set")
    if error["type"] == "extra_forbidden":
        return Problem(path, f"no such value{perhaps(str(place[-1]), _declared(shape, place[:-1]))}")
    found = error["input"]
    if error["type"] == "literal_error":
        return Problem(path, f"expected {error['ctx']['expected']}, got {rendered(found)}".replace("'", '"'))
    if expected is None:
        return Problem(path, error["msg"])
    return wrong_type(path, expected, found)


def _declared(shape: type[Typed], place: Sequence[int | str]) -> list[str]:
    """The field names of the object at a place in a type."""
    fields = {field.alias or name: field for name, field in shape.model_fields.items()}
    if not place:
        return [*fields]
    below = fields[str(place[0])].annotation
    return _declared(below, place[1:]) if isinstance(below, type) and issubclass(below, Typed) else []


def _below(path: str, part: int | str) -> str:
    return f"{path}[{part}]" if isinstance(part, int) else child(path, part)


class Rule(NamedTuple):
    """What an API server checks of every object of a type, as a definition spells it."""

    rule: str
    """In the Common Expression Language, about `self`; one about `oldSelf` holds for updates."""
    message: str


class ApiType(Typed):
    """A type with documented fields, which a tool may name as Python or as JSON does."""

    model_config = ConfigDict(use_attribute_docstrings=True, validate_by_name=True, validate_by_alias=True)

    is_atomic: ClassVar[bool] = False
    """True if an API server merges the object as a whole: who applies one of its fields owns them all."""
    validations: ClassVar[tuple[Rule, ...]] = ()


class ObjectMeta(ApiType):
    """The metadata that tools look at; the rest is kept."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    finalizers: Items[str] = ()
    generation: Int64 = 0
    resource_version: str = ""
    uid: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None


class ApiObject(ApiType):
    """An object that an API server stores; each type names its own kind."""

    said_by_documents = ("apiVersion", "kind")

    api_version: str
    """Group and version of this object's type, such as resources.gardener.cloud/v1alpha1."""
    kind: str
    """The kind of this object."""
    metadata: ObjectMeta = ObjectMeta()
    # API servers refuse a definition that describes metadata.

    def manifest(self) -> dict[str, Any]:
        """The object as a plain document: its kind, and the fields that were set."""
        given = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"apiVersion": self.api_version, "kind": self.kind, **given}


def undeclared(value: object, path: str = "") -> Iterator[Problem]:
    """The fields that no type declares, which are kept but mean nothing; metadata is not checked."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from undeclared(item, _below(path, index))
    elif isinstance(value, Typed) and not isinstance(value, ObjectMeta):
        fields = {field.alias or name: name for name, field in type(value).model_fields.items()}
        for name, problem in unknown_fields(value.model_extra or {}, fields):
            yield Problem(child(path, name), problem)
        for alias, name in fields.items():
            yield from undeclared(getattr(value, name), child(path, alias))
