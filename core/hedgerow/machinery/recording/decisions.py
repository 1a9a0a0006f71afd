"""The lines of a record as values and as JSON: its header, segments of decisions, and gaps."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.recording.codec import Json, UnknownValueError, decoded, encoded
from hedgerow.machinery.recording.segments import Segment

FORMAT: Final = 2
"""Of what is written; another number is another form."""
_HEADER: Final = "hedgerow-record"


@dataclass(frozen=True, slots=True)
class Header:
    """Who decided: with it a run of a process begins in a file."""

    version: str
    """Of hedgerow."""
    component: str
    cluster_id: str
    """The effective id of the source cluster."""
    configuration: Mapping[str, Any]
    """The component configuration with all its defaults, as a manifest."""

    def to_json(self) -> Json:
        """As it is written."""
        return {
            _HEADER: FORMAT,
            "version": self.version,
            "component": self.component,
            "clusterId": self.cluster_id,
            "configuration": self.configuration,
        }


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A decision that could not be recorded; what follows of its turn cannot be repeated, either."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str

    def to_json(self) -> Json:
        """As it is written."""
        return {"controller": self.controller, "key": list(self.key), "turn": self.turn, "unrecorded": self.problem}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision that was recorded, of which this version cannot read what it was made from."""

    controller: str
    key: ObjectKey
    turn: int
    problem: str


Entry: TypeAlias = Header | Segment | Unrecorded | Unreadable


def entry(line: Json) -> Entry:
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
            return _segment(line, key)
        except UnknownValueError as error:
            return Unreadable(controller, key, turn, f"holds what this version does not know: {error}")
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownValueError("it is no line of a record") from error


def _header(line: Mapping[str, Json]) -> Header:
    if line[_HEADER] != FORMAT:
        raise UnknownValueError(f"its format is {line[_HEADER]!s:.20}, only {FORMAT} is known")
    return Header(line["version"], line["component"], line["clusterId"], line["configuration"])


def segment_to_json(segment: Segment) -> Json:
    """A segment as it is written: who decides what comes first; empty fields are left out.

    Raises:
        UnrecordableError: something in it is of a type that no record can hold.
    """
    written = {
        "jitter": segment.jitter,
        "serverVersions": sorted(segment.server_versions),
        "memory": encoded(segment.memory),
        "remembersAsBefore": segment.remembers_as_before,
        "reads": encoded(segment.reads),
        "replies": [encoded(reply) for reply in segment.replies],
        "raised": segment.raised,
        "acted": None if segment.acted is None else {"outline": list(segment.acted)},
    }
    return {
        "controller": segment.controller,
        "key": list(segment.key),
        "now": segment.now.isoformat(),
        "turn": segment.turn,
        "segment": segment.number,
        "wants": segment.wants,
        **{name: value for name, value in written.items() if value},
    }


def _segment(line: Mapping[str, Json], key: ObjectKey) -> Segment:
    return Segment(
        controller=line["controller"],
        key=key,
        turn=line["turn"],
        number=line["segment"],
        now=datetime.fromisoformat(line["now"]),
        jitter=line.get("jitter", 0.0),
        server_versions=frozenset(line.get("serverVersions", ())),
        memory=decoded(line.get("memory")),
        remembers_as_before=line.get("remembersAsBefore", False),
        reads=decoded(line.get("reads", {})),
        replies=decoded(line.get("replies", [])),
        wants=line["wants"],
        raised=line.get("raised", ""),
        acted=line["acted"]["outline"] if "acted" in line else None,
    )
