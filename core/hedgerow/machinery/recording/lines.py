"""The lines of a record: a header for each run of a process, then a line for each turn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import Json, UnknownValueError, decoded, encoded
from hedgerow.machinery.recording.journal import Journal, Part, Unrecorded

FORMAT: Final = 3
_HEADER: Final = "hedgerow-record"
_NO_LINE: Final = "it is no line of a record"


@dataclass(frozen=True, slots=True)
class Header:
    """Who decides in the lines that follow."""

    version: str
    """Of hedgerow."""
    component: str
    cluster_id: str
    """The effective id of the source cluster."""
    configuration: Mapping[str, Any]
    """The component configuration with all its defaults, as a manifest."""

    def to_line(self) -> str:
        """The line."""
        members = {"version": self.version, "component": self.component, "clusterId": self.cluster_id}
        return json.dumps({_HEADER: FORMAT, **members, "configuration": self.configuration})


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision that was recorded, of which this version cannot read what it was made from."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str


Turn: TypeAlias = Journal | Unrecorded | Unreadable
Line: TypeAlias = Header | Turn


def line_of(turn: Journal | Unrecorded) -> str:
    """The line of a turn, without the state that it leaves.

    Raises:
        UnrecordableError: something in it has a type that no record can hold.
    """
    if isinstance(turn, Journal):
        turn = replace(turn, parts=tuple(map(_without_state, turn.parts)))
    return json.dumps(encoded(turn))


def _without_state(part: Part) -> Part:
    return replace(part, wants=replace(part.wants, state=None)) if isinstance(part.wants, Plan) else part


def parsed_line(line: str | bytes) -> Line:
    """What a line says.

    Raises:
        ValueError: it is no JSON.
        UnknownValueError: it is no line of a record, or of one in another format.
    """
    content = json.loads(line)
    try:
        if _HEADER in content:
            return _header(content)
        controller, key, turn = content["controller"], decoded(content["key"]), content["turn"]
        try:
            found = decoded(content)
        except UnknownValueError as error:
            return Unreadable(controller, key, turn, f"holds what this version does not know: {error}")
    except (KeyError, TypeError) as error:
        raise UnknownValueError(_NO_LINE) from error
    if isinstance(found, Journal | Unrecorded):
        return found
    raise UnknownValueError(_NO_LINE)


def _header(line: Mapping[str, Json]) -> Header:
    if line[_HEADER] != FORMAT:
        problem = f"its format is {line[_HEADER]!s:.20}, this version knows only {FORMAT}"
        raise UnknownValueError(f"{problem}: replay it with the version that has recorded it")
    return Header(line["version"], line["component"], line["clusterId"], line["configuration"])
