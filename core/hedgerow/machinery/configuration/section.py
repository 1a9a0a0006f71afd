"""The declaration of a section: a frozen dataclass whose annotations carry marks. Source: managed-resources §3.1."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from datetime import timedelta
from enum import Enum, auto
from types import NoneType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform, get_args, get_origin

from hedgerow.machinery.failures import Problem, child
from hedgerow.machinery.scalars import format_duration

M = TypeVar("M")


class Purpose(Enum):
    """The purpose of reading a configuration."""

    RUN = auto()
    """A process in a cluster: everything that it needs must be set."""
    OFFLINE = auto()
    """A command that runs controllers by name, enabled or not, without leader election."""


class Mark(Enum):
    """A property of a field."""

    LIMIT = auto()
    """It names a cluster, or limits actions there. A misspelling of it, or of its section, is an error: without the
    field the process would do more than its author wants."""
    IDLE = auto()
    """The field has no effect. Another value than its default is a warning."""
    ZERO_IS_UNSET = auto()
    """Zero and the empty string stand for the default, as in the reference."""


LIMIT, IDLE, ZERO_IS_UNSET = Mark


class Named(NamedTuple):
    """The name of a field in documents, if it is not the attribute in camel case."""

    name: str


class Alias(NamedTuple):
    """Another spelling of a field. Both together are an error."""

    name: str
    nature: str
    """Its name in the documentation, such as "An older name"."""
    is_deprecated: bool = False
    """True if its use is a warning."""
    is_single: bool = False
    """True if it takes one item instead of a list."""


class Bits(NamedTuple):
    """The length of an integer in the reference, sign included; 64 for an integer without this mark."""

    width: int


class WhenEnabled(NamedTuple):
    """The default of a field in a section that is enabled; in others the field stays unset."""

    value: Any


class Rule(NamedTuple):
    """A rule about the value of one field."""

    errors: Callable[[str, Any], Iterable[Problem]]
    """The errors of a value, given the path of its field."""
    says: str = ""
    """The rule as a sentence of the documentation; empty: the text of the field has it."""
    only_if_enabled: bool = False
    """True if offline commands ignore it in a disabled section."""


class SectionField(NamedTuple):
    """One field of a section, as declared."""

    attribute: str
    name: str
    """In documents."""
    value_type: Any
    """Without marks, and without None for a field that may be unset."""
    item_type: Any
    """The type of the items of a list; the type itself if it is no list."""
    default: Any
    default_when_enabled: Any
    marks: Sequence[Any]
    rules: Sequence[Rule]
    aliases: Sequence[Alias]
    bits: int

    @classmethod
    def of(cls, field: Field[Any]) -> Self:
        """The declaration in a field of a dataclass."""
        type_, *marks = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
        if NoneType in get_args(type_):
            type_ = next(each for each in get_args(type_) if each is not NoneType)
        first, *others = field.name.split("_")
        default = field.default if field.default_factory is MISSING else field.default_factory()

        def marked(unmarked: M) -> M:
            return next((mark for mark in marks if isinstance(mark, type(unmarked))), unmarked)

        return cls(
            attribute=field.name,
            name=marked(Named(first + "".join(map(str.capitalize, others)))).name,
            value_type=type_,
            item_type=get_args(type_)[0] if get_origin(type_) is tuple else type_,
            default=default,
            default_when_enabled=marked(WhenEnabled(default)).value,
            marks=marks,
            rules=[mark for mark in marks if isinstance(mark, Rule)],
            aliases=[mark for mark in marks if isinstance(mark, Alias)],
            bits=marked(Bits(64)).width,
        )

    @property
    def section(self) -> "type[Section] | None":
        """The section that the field, or each of its items, holds."""
        return self.item_type if isinstance(self.item_type, type) and issubclass(self.item_type, Section) else None

    @property
    def is_limit(self) -> bool:
        """True if the field is a limit, or a section with one."""
        if self.section is None:
            return LIMIT in self.marks
        return self.section.is_strict or any(field.is_limit for field in self.section.declared)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Section:
    """An object in a configuration file. Every subclass becomes a frozen dataclass."""

    declared: ClassVar[tuple[SectionField, ...]] = ()
    is_strict: ClassVar[bool] = False
    """True if any unknown field is an error."""
    omits_defaults: ClassVar[bool] = False
    """True if a printed section leaves out fields with their default."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        cls.declared = tuple(map(SectionField.of, fields(cls)))

    def is_checked(self, _purpose: Purpose, /) -> bool:
        """True if the rules apply to this section."""
        return True

    def defaulted(self) -> Self:
        """The section with those defaults that depend on its other fields."""
        return self

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """The errors of the section and of those below it, in the order of the fields."""
        if self.is_checked(purpose):
            yield from self.field_problems(path, purpose, *(field.attribute for field in self.declared))

    def field_problems(self, path: str, purpose: Purpose, *attributes: str) -> Iterator[Problem]:
        """The errors of some fields: the first broken rule of each, then the errors of the sections below."""
        for field, at, value in self._values(path):
            if field.attribute in attributes:
                rules = (rule for rule in field.rules if not rule.only_if_enabled or self.is_checked(Purpose.RUN))
                yield from next(filter(None, ([*rule.errors(at, value)] for rule in rules)), ())
                for below, section in _sections_in(at, value):
                    yield from section.problems(below, purpose)

    def warnings(self, path: str, purpose: Purpose, /) -> Iterator[str]:
        """Sentences about valid values, here and below, that have no effect or cannot work."""
        for field, at, value in self._values(path):
            if IDLE in field.marks and value != field.default:
                yield f"{at}: this field is not acted on in this version"
            for below, section in _sections_in(at, value):
                yield from section.warnings(below, purpose)

    def manifest(self) -> dict[str, Any]:
        """The section as a plain document, defaults included, without unset fields."""
        return {
            field.name: _plain(value)
            for field, _, value in self._values("")
            if value is not None and not (self.omits_defaults and value == field.default)
        }

    def _values(self, path: str) -> Iterator[tuple[SectionField, str, Any]]:
        for field in self.declared:
            yield field, child(path, field.name), getattr(self, field.attribute)


class Switched(Section):
    """A section that enables what it configures."""

    enabled: bool = False
    """Whether it is enabled."""

    def is_checked(self, purpose: Purpose, /) -> bool:
        """True if enabled, or for offline commands."""
        return self.enabled or purpose is Purpose.OFFLINE

    def defaulted(self) -> Self:
        """The section with the defaults that only an enabled one gets."""
        if not self.enabled:
            return self
        unset = (field for field in self.declared if getattr(self, field.attribute) is None)
        return replace(self, **{field.attribute: field.default_when_enabled for field in unset})

    def manifest(self) -> dict[str, Any]:
        """The section as a plain document, always with `enabled`."""
        return {"enabled": self.enabled, **super().manifest()}


def _sections_in(path: str, value: object) -> Iterator[tuple[str, Section]]:
    if isinstance(value, Section):
        yield path, value
    elif isinstance(value, tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value) if isinstance(item, Section))


def _plain(value: Any) -> Any:
    match value:
        case Section():
            return value.manifest()
        case timedelta():
            return format_duration(value)
        case float() if value.is_integer():
            return int(value)
        case tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return dict(value)
        case _:
            return value
