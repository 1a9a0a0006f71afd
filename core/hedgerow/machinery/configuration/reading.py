"""From a parsed document to a valid configuration: decode, default, validate; and the schema of such documents.

Finds all errors of a stage. `null` means an absent field. An unknown field is ignored with a warning. The JSON schema,
for the values of a chart, has types, and which spellings exclude each other. Rules about values are left to `decode`:
many of them hold only in sections that are enabled.

Source: managed-resources §3.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum, auto
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar, get_args, get_origin

from returns.result import Failure, Result, Success

from hedgerow.machinery.configuration.section import ZERO_IS_UNSET, Purpose, Section, SectionField
from hedgerow.machinery.failures import FieldErrorType, Problem, child, forbidden, joined, nearest, rendered, wrong_type
from hedgerow.machinery.scalars import WrittenDuration, parse_duration

S = TypeVar("S", bound=Section)
_UNREADABLE: Final[Any] = None  # replaces a value of a wrong type; the document is refused anyway
_EXPECTED: Final = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    timedelta: 'a duration such as "1h30m0s"',
}


class Document(Section):
    """A whole configuration file."""

    api_version: ClassVar[str]
    kind: ClassVar[str]

    def manifest(self) -> dict[str, Any]:
        """The whole configuration, defaults included, as a plain document."""
        return {**head(type(self)), **super().manifest()}


D = TypeVar("D", bound=Document)


def head(kind: type[Document]) -> dict[str, str]:
    """The two fields that identify a file."""
    return {"apiVersion": kind.api_version, "kind": kind.kind}


class Stage(Enum):
    """The stage at which a document was refused: for its kind or the type of a field; for the value of a field."""

    DECODING = auto()
    VALIDATION = auto()


@dataclass(frozen=True, slots=True)
class ConfigurationErrors:
    """Why a document is no valid configuration; at least one error, all of one stage."""

    stage: Stage
    errors: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
    """None if decoding failed."""

    def __str__(self) -> str:
        return joined(self.errors)


@dataclass(frozen=True, slots=True)
class Decoded(Generic[D]):
    """A valid configuration, and warnings for its author."""

    configuration: D
    warnings: tuple[str, ...]
    """One clause each, behind the full path of the field."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The path that the author wrote, by the path of the field."""

    def as_written(self, text: str) -> str:
        """A path, or a text that begins with one, in the author's spelling."""
        return _as_written(text, self.aliases)


def decode(kind: type[D], document: object, purpose: Purpose) -> Result[Decoded[D], ConfigurationErrors]:
    """The configuration in a parsed document, or all its errors."""
    reader = _Reader()
    configuration = reader.document(kind, document)
    if reader.errors:
        return Failure(ConfigurationErrors(Stage.DECODING, reader.in_written_spelling(reader.errors)))
    warnings = tuple(map(reader.as_written, (*reader.warnings, *configuration.warnings("", purpose))))
    problems = (*reader.problems, *configuration.problems("", purpose))
    if problems:
        return Failure(ConfigurationErrors(Stage.VALIDATION, reader.in_written_spelling(problems), warnings))
    return Success(Decoded(configuration, warnings, reader.aliases))


def _as_written(text: str, aliases: Mapping[str, str]) -> str:
    for path, written in aliases.items():
        if text.startswith(path) and not text[len(path) :][:1].isalnum():
            return written + text[len(path) :]
    return text


@dataclass(slots=True)
class _Reader:
    """Reads one document, and collects its errors and warnings."""

    errors: list[Problem] = field(default_factory=list)
    """Values of wrong types."""
    problems: list[Problem] = field(default_factory=list)
    """Misspelt limits, and two spellings of one field."""
    warnings: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    """The path that the author wrote, by the path of the field."""

    def as_written(self, text: str) -> str:
        """A path, or a text that begins with one, in the author's spelling."""
        return _as_written(text, self.aliases)

    def in_written_spelling(self, errors: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(replace(error, path=self.as_written(error.path)) for error in errors)

    def document(self, kind: type[D], document: object) -> D:
        """The configuration in a document of this version and kind."""
        if not isinstance(document, Mapping):
            self._expected("an object", document, "")
            return kind()
        for name, expected in head(kind).items():
            found = document.get(name)
            if found != expected:
                shown = "nothing" if found is None else rendered(found)
                self._unreadable(f"expected {rendered(expected)}, got {shown}", name)
        return kind() if self.errors else self.section(kind(), document, "")

    def section(self, base: S, document: object, path: str) -> S:
        """The section in a document; `base` has the values of absent fields."""
        if not isinstance(document, Mapping):
            self._expected("an object", document, path)
            return base
        self._report_unknown(type(base), document, path)
        stated: dict[str, Any] = {}
        for declared in base.declared:
            value = self._under_any_name(declared, document, path)
            if value is not None:
                default = getattr(base, declared.attribute)
                read = self._value(declared, declared.value_type, value, child(path, declared.name), default)
                if read or ZERO_IS_UNSET not in declared.marks:
                    stated[declared.attribute] = read
        for key in document:
            if not isinstance(key, str):
                self._expected("a string as key", key, f"{path}[{key}]")
        return replace(base, **stated).defaulted()

    def _report_unknown(self, section: type[Section], document: Mapping[Any, Any], path: str) -> None:
        known = {declared.name: declared for declared in section.declared}
        known |= {alias.name: declared for declared in tuple(known.values()) for alias in declared.aliases}
        names = [*known, *(head(section) if issubclass(section, Document) else ())]
        for name in document:
            if isinstance(name, str) and name not in names:
                at, meant = child(path, name), nearest(name, names) or ""
                hint = f"; did you mean {meant}?" if meant else ""
                if section.is_strict or (meant in known and known[meant].is_limit):
                    self.problems.append(Problem(at, f"is an unknown field{hint}", FieldErrorType.INVALID))
                else:
                    self.warnings.append(f"{at}: unknown field, ignored{hint}")

    def _under_any_name(self, declared: SectionField, document: Mapping[Any, Any], path: str) -> Any:
        value, at = document.get(declared.name), child(path, declared.name)
        for alias in declared.aliases:
            written, other = child(path, alias.name), document.get(alias.name)
            if other is not None and value is not None:
                self.problems.append(forbidden(written, f"must not be set together with {declared.name}"))
            elif other is not None:
                self.aliases[f"{at}[0]" if alias.is_single else at] = written
                value = [other] if alias.is_single else other
            if other is not None and alias.is_deprecated:
                self.warnings.append(f"{written}: is an alias of {declared.name}")
        return value

    def _value(self, declared: SectionField, type_: Any, value: object, path: str, base: Any = None) -> Any:
        if isinstance(type_, type) and issubclass(type_, Section):
            return self.section(type_() if base is None else base, value, path)
        if get_origin(type_) is tuple:
            if not isinstance(value, list):
                return self._expected("a list", value, path)
            items = enumerate(value)
            return tuple(self._value(declared, declared.item_type, item, f"{path}[{index}]") for index, item in items)
        if get_origin(type_) is Mapping:
            return self._map(declared, get_args(type_)[1], value, path)
        return self._scalar(type_, declared.bits, value, path)

    def _map(self, declared: SectionField, type_: Any, value: object, path: str) -> Any:
        if not isinstance(value, Mapping):
            return self._expected("an object", value, path)
        read = {}
        for key, member in value.items():
            if isinstance(key, str):
                read[key] = self._scalar(type_, declared.bits, member, child(path, key))
            else:
                self._expected("a string as key", key, f"{path}[{key}]")
        return read

    def _scalar(self, type_: Any, bits: int, value: object, path: str) -> Any:
        match value:
            case bool() | str() if type_ is type(value):
                return value
            case str() if type_ is timedelta:
                return self._duration(value, path)
            case int() if type_ is int and not isinstance(value, bool):
                if (value if value >= 0 else ~value).bit_length() < bits:
                    return value
                return self._unreadable(f"expected an integer of {bits} bits, got {rendered(value)}", path)
            case int() | float() if type_ is float and not isinstance(value, bool):
                return self._number(value, path)
        return self._expected(_EXPECTED[type_], value, path)

    def _duration(self, text: str, path: str) -> Any:
        duration = parse_duration(text)
        if isinstance(duration, Failure):
            return self._unreadable(f"{duration.failure()}, got {rendered(text)}", path)
        return WrittenDuration.of(duration.unwrap(), text)

    def _number(self, value: float, path: str) -> Any:
        try:
            number = float(value)
        except OverflowError:
            return self._unreadable(f"expected a number of 64 bits, got {rendered(value)}", path)
        return number if math.isfinite(number) else self._expected("a finite number", value, path)

    def _expected(self, expected: str, value: object, path: str) -> Any:
        is_shown = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
        self.errors.append(wrong_type(path, expected, value, f": {rendered(value)}" if is_shown else ""))
        return _UNREADABLE

    def _unreadable(self, problem: str, path: str) -> Any:
        self.errors.append(Problem(path, problem))
        return _UNREADABLE


Schema: TypeAlias = dict[str, Any]
_SCALARS: Final = {bool: "boolean", int: "integer", float: "number", str: "string", timedelta: "string"}


def document_schema(kind: type[Document]) -> Schema:
    """The schema of a whole configuration file."""
    opening = {name: {"const": value} for name, value in head(kind).items()}
    schema = _object(kind)
    return {**schema, "required": [*opening], "properties": {**opening, **schema["properties"]}}


def nullable(schema: Schema) -> Schema:
    """The schema of a value that may be null, which stands for a field that is left out."""
    return {**schema, "type": [schema["type"], "null"]}


def _object(section: type[Section]) -> Schema:
    properties: Schema = {}
    exclusions: list[Schema] = []
    for declared in section.declared:
        properties[declared.name] = nullable(_of_type(declared.value_type))
        for alias in declared.aliases:
            properties[alias.name] = nullable(_of_type(declared.item_type if alias.is_single else declared.value_type))
            both = {name: {"not": {"type": "null"}} for name in (declared.name, alias.name)}
            exclusions.append({"not": {"type": "object", "required": [*both], "properties": both}})
    schema: Schema = {"type": "object", "properties": properties}
    if section.is_strict:
        schema["additionalProperties"] = False
    return {**schema, "allOf": exclusions} if exclusions else schema


def _of_type(type_: Any) -> Schema:
    if isinstance(type_, type) and issubclass(type_, Section):
        return _object(type_)
    if get_origin(type_) is tuple:
        return {"type": "array", "items": _of_type(get_args(type_)[0])}
    if get_origin(type_) is Mapping:
        return {"type": "object", "additionalProperties": _of_type(get_args(type_)[1])}
    return {"type": _SCALARS[type_]}
