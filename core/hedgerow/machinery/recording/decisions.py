"""One recorded decision, and the file's first words about all of them, as values and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Outcome
from hedgerow.machinery.questions import Answers, Kinds
from hedgerow.machinery.recording.codec import Json, UnknownValueError, decoded, encoded
from hedgerow.machinery.recording.reads import Reads

FORMAT: Final = 1
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
class Decision:
    """One stage of one turn of a key: what was known, and what was decided.

    Everything in it is as the record may show it. Answers and outcomes are those that are new since the last stage that
    was recorded of the turn.
    """

    controller: str
    key: ObjectKey
    turn: int
    """Counts the turns of a run, from 1."""
    stage: int
    """Of the turn, from 0."""
    now: datetime
    jitter: float
    reads: Reads
    kinds: Kinds
    answers: Answers
    outcomes: Sequence[Outcome]
    memory: object
    """What the turn was told of the key's last one; none beyond its first stage."""
    remembers_as_before: bool
    """Whether that is what the key's last turn that was recorded was told, and so is not told again."""
    plan: Json
    """What is decided by all this, in the form of `comparable`; none if the decision raised."""
    raised: str
    """What it raised: a defect; empty where it has a plan."""
    acted: Sequence[str] | None
    """The outline of what was decided by what is not shown, where that is another."""

    def to_json(self) -> Json:
        """As it is written: who decides what comes first; what there is nothing of is left out.

        Raises:
            UnrecordableError: it is made of something that no record can hold.
        """
        written = {
            "jitter": self.jitter,
            "reads": encoded(self.reads),
            "kinds": encoded(self.kinds),
            "answers": encoded(self.answers),
            "outcomes": encoded(list(self.outcomes)),
            "memory": encoded(self.memory),
            "remembersAsBefore": self.remembers_as_before,
            "raised": self.raised,
            "acted": None if self.acted is None else {"outline": list(self.acted)},
        }
        return {
            "controller": self.controller,
            "key": list(self.key),
            "now": self.now.isoformat(),
            "turn": self.turn,
            "stage": self.stage,
            "plan": self.plan,
            **{name: value for name, value in written.items() if value},
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


Entry: TypeAlias = Header | Decision | Unrecorded | Unreadable


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
            return _decision(line, key)
        except UnknownValueError as error:
            return Unreadable(controller, key, turn, f"holds what this version does not know: {error}")
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownValueError("it is no line of a record") from error


def _header(line: Mapping[str, Json]) -> Header:
    if line[_HEADER] != FORMAT:
        raise UnknownValueError(f"its format is {line[_HEADER]!s:.20}, only {FORMAT} is known")
    return Header(line["version"], line["component"], line["clusterId"], line["configuration"])


def _decision(line: Mapping[str, Json], key: ObjectKey) -> Decision:
    return Decision(
        controller=line["controller"],
        key=key,
        turn=line["turn"],
        stage=line["stage"],
        now=datetime.fromisoformat(line["now"]),
        jitter=line.get("jitter", 0.0),
        reads=decoded(line.get("reads", {})),
        kinds=decoded(line.get("kinds", {})),
        answers=decoded(line.get("answers", {})),
        outcomes=tuple(decoded(line.get("outcomes", []))),
        memory=decoded(line.get("memory")),
        remembers_as_before=line.get("remembersAsBefore", False),
        plan=line["plan"],
        raised=line.get("raised", ""),
        acted=line["acted"]["outline"] if "acted" in line else None,
    )
