"""What a section of a configuration file is, and what its author should know of it.

It knows no particular section, no default and no rule about values.
"""

from collections.abc import Iterator
from datetime import timedelta
from enum import Enum, auto
from typing import Annotated, ClassVar

from pydantic import PlainValidator
from returns.result import Failure

from hedgerow.api.shape import Typed, child, json_type, unreadable
from hedgerow.machinery.durations import parse_duration
from hedgerow.machinery.fields import FieldError, perhaps, rendered


class Purpose(Enum):
    """What a configuration is read for."""

    RUN = auto()
    """A process in a cluster: everything that it needs must be there."""
    OFFLINE = auto()
    """A command that runs controllers by name, whether the file enables them or not, and competes for no lease."""


class Section(Typed):
    """An object in a configuration file, whose undeclared fields are there for `warnings`."""

    idle: ClassVar[tuple[str, ...]] = ()
    """The attributes of fields that nothing acts on; a user is told who sets one to another value than its default."""

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


def warnings(section: Section, path: str = "") -> Iterator[str]:
    """What a user should know of a valid section and those below it: remarks, idle fields, fields not declared."""
    if section.remark:
        yield f"{path}: {section.remark}"
    for attribute in section.idle:
        field = type(section).model_fields[attribute]
        if getattr(section, attribute) != field.default:
            yield f"{child(path, field.alias or attribute)}: this field is not acted on in this version"
    for name in section.model_extra or {}:
        declared = [field.alias or known for known, field in type(section).model_fields.items()]
        yield f"{child(path, name)}: unknown field, ignored{perhaps(name, declared)}"
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


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise unreadable(f'expected a duration such as "1h30m0s", got {json_type(value)}')
    duration = parse_duration(value)
    if isinstance(duration, Failure):
        raise unreadable(f"{duration.failure()}, got {rendered(value)}")
    return duration.unwrap()


Duration = Annotated[timedelta, PlainValidator(_duration)]
"""A duration in Go's spelling; always a string."""
