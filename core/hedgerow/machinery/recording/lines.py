"""The lines of a record as values and as JSON: a header for each run of a process, then a line for each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import Json, UnknownValueError, decoded, encoded
from hedgerow.machinery.recording.journal import Journal, Part

FORMAT: Final = 3
_HEADER: Final = "hedgerow-record"


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

    def to_json(self) -> Json:
        """The line."""
        return {
            _HEADER: FORMAT,
            "version": self.version,
            "component": self.component,
            "clusterId": self.cluster_id,
            "configuration": self.configuration,
        }


@dataclass(frozen=True, slots=True)
class Recorded:
    """A decision that can be made again."""

    controller: str
    turn: int
    """Counts the turns of a run, from 1."""
    journal: Journal
    acted: Sequence[str] | None = None
    """Outline of what the process wanted at the end of the last part, where that is something else."""

    @property
    def key(self) -> ObjectKey:
        """What was decided about."""
        return self.journal.key

    def to_json(self) -> Json:
        """The line; empty members are left out.

        Raises:
            UnrecordableError: something in it has a type that no record can hold.
        """
        journal = self.journal
        members = {
            "jitter": journal.jitter,
            "serverVersions": sorted(journal.server_versions),
            "hasState": journal.has_state,
            "raised": journal.raised,
            "acted": None if self.acted is None else {"outline": list(self.acted)},
        }
        return {
            "controller": self.controller,
            "key": list(journal.key),
            "now": journal.now.isoformat(),
            "turn": self.turn,
            **_without_empty(members),
            "parts": [_part_to_json(part) for part in journal.parts],
        }


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A decision that could not be recorded."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str

    def to_json(self) -> Json:
        """The line."""
        return {"controller": self.controller, "key": list(self.key), "turn": self.turn, "unrecorded": self.problem}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision that was recorded, of which this version cannot read what it was made from."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str


Turn: TypeAlias = Recorded | Unrecorded | Unreadable
Line: TypeAlias = Header | Turn


def line_from_json(line: Json) -> Line:
    """What a line says.

    Raises:
        UnknownValueError: it is no line of a record, or of one in another format.
    """
    try:
        if _HEADER in line:
            return _header(line)
        controller, key, turn = line["controller"], ObjectKey(*line["key"]), line["turn"]
        if "unrecorded" in line:
            return Unrecorded(controller, key, turn, line["unrecorded"])
        try:
            acted = line["acted"]["outline"] if "acted" in line else None
            return Recorded(controller, turn, _journal(line, key), acted)
        except UnknownValueError as error:
            return Unreadable(controller, key, turn, f"holds what this version does not know: {error}")
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownValueError("it is no line of a record") from error


def _header(line: Mapping[str, Json]) -> Header:
    if line[_HEADER] != FORMAT:
        problem = f"its format is {line[_HEADER]!s:.20}, this version knows only {FORMAT}"
        raise UnknownValueError(f"{problem}: replay it with the version that has recorded it")
    return Header(line["version"], line["component"], line["clusterId"], line["configuration"])


def _journal(line: Mapping[str, Json], key: ObjectKey) -> Journal:
    return Journal(
        key,
        datetime.fromisoformat(line["now"]),
        line.get("jitter", 0.0),
        frozenset(line.get("serverVersions", ())),
        line.get("hasState", False),
        tuple(map(_part, line["parts"])),
        line.get("raised", ""),
    )


def _part_to_json(part: Part) -> Json:
    wants = replace(part.wants, state=None) if isinstance(part.wants, Plan) else part.wants
    members = {
        "reads": [[encoded(lookup), encoded(answer)] for lookup, answer in part.reads.items()],
        "times": [time.isoformat() for time in part.times],
        "wants": encoded(wants),
        "reply": encoded(part.reply),
    }
    return _without_empty(members)


def _part(members: Mapping[str, Json]) -> Part:
    return Part(
        {decoded(lookup): decoded(answer) for lookup, answer in members.get("reads", ())},
        tuple(map(datetime.fromisoformat, members.get("times", ()))),
        decoded(members.get("wants")),
        decoded(members.get("reply")),
    )


def _without_empty(members: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value}
