"""Records: a header for each run of a process, then a line of JSON for each turn.

Manifests stay as they are, so that people can read them. Everything that JSON cannot tell apart or does not know is an
object whose first member, `$`, is the tag of its type, which stays when the type is renamed or moved. The fields of a
type, and their defaults, are part of the format: a field with its default is left out, and so is one that equality
ignores. Lists are lists in manifests, and tuples everywhere else.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeAlias

from hedgerow.machinery import charts, clusters, failures, objects, plan, questions, selectors, steps
from hedgerow.machinery.recording.journal import Journal, Lookup, Part, Unrecorded, WriteReply

Json: TypeAlias = Any

TAG: Final = "$"
_MANIFEST: Final = "map"  # a mapping with a name that begins like a tag
_TABLE: Final = "table"
_TIME: Final = "time"
_BYTES: Final = "bytes"
_PLAIN: Final = frozenset({str, bool, int, float})
_TYPES: Final[Mapping[str, type]] = {
    "apiError": plan.ApiError,
    "atOnce": steps.AtOnce,
    "cause": plan.Cause,
    "cluster": clusters.Cluster,
    "create": plan.Create,
    "decision": Journal,
    "delete": plan.Delete,
    "event": plan.Event,
    "failure": failures.Failure,
    "fieldErrorType": failures.FieldErrorType,
    "found": questions.Found,
    "inOrder": plan.InOrder,
    "jsonPatch": plan.JsonPatch,
    "key": objects.ObjectKey,
    "kind": objects.Kind,
    "kindQuestion": questions.KindQuestion,
    "labelSelector": selectors.LabelSelector,
    "listQuestion": questions.ListQuestion,
    "lookup": Lookup,
    "mergePatch": plan.MergePatch,
    "notAnswered": questions.NotAnswered,
    "now": steps.Now,
    "objectQuestion": questions.ObjectQuestion,
    "operator": selectors.Operator,
    "part": Part,
    "pause": steps.Pause,
    "plan": plan.Plan,
    "problem": failures.Problem,
    "recordEvents": plan.RecordEvents,
    "renderChart": charts.RenderChart,
    "renderError": charts.RenderError,
    "renderedFile": charts.RenderedFile,
    "requirement": selectors.Requirement,
    "resource": objects.Resource,
    "told": WriteReply,
    "unrecorded": Unrecorded,
    "update": plan.Update,
}
_TAGS: Final = {kind: tag for tag, kind in _TYPES.items()}


class UnrecordableError(Exception):
    """A value is of a type that a record cannot hold."""

    def __init__(self, value: object) -> None:
        kind = type(value)
        super().__init__(f"a record cannot hold a value of type {kind.__module__}.{kind.__qualname__}")


class UnknownValueError(Exception):
    """A record holds something that this version of the program does not know."""


def encoded(value: object) -> Json:
    """A value as JSON; UnrecordableError if something in it has a type without a tag."""
    # The types of manifests come first: nearly everything is made of them.
    kind = type(value)
    if value is None or kind in _PLAIN:
        return value
    if isinstance(value, dict | Mapping):
        return _encoded_mapping(value)
    if kind is list or kind is tuple:
        return [encoded(item) for item in value]  # type: ignore[attr-defined]  # a list or tuple by its type
    return _encoded_tagged(value)


def canonical(value: Json) -> str:
    """JSON as a text that is the same for equal values."""
    return json.dumps(value, sort_keys=True)


def _encoded_mapping(value: Mapping[Any, Any]) -> Json:
    if all(type(name) is str and not name.startswith(TAG) for name in value):
        return {name: encoded(member) for name, member in value.items()}
    tag = _MANIFEST if all(type(name) is str for name in value) else _TABLE
    return {TAG: tag, "of": [[encoded(name), encoded(member)] for name, member in value.items()]}


def _encoded_tagged(value: object) -> Json:
    tag = _TAGS.get(type(value))
    if tag is None and type(value) is datetime:
        return {TAG: _TIME, "is": value.isoformat()}
    if tag is None and type(value) is bytes:
        return {TAG: _BYTES, "is": b64encode(value).decode()}
    if tag is None and isinstance(value, int):  # a number with a name, such as an HTTP status
        return int(value)
    if tag is None:
        raise UnrecordableError(value)
    if isinstance(value, Enum):
        return {TAG: tag, "is": value.value}
    members = ((name, default, getattr(value, name)) for name, default in _FIELDS[type(value)])
    return {TAG: tag, **{name: encoded(member) for name, default, member in members if member is not default}}


def _fields(kind: type) -> Sequence[tuple[str, object]]:
    if is_dataclass(kind):
        return [(member.name, member.default) for member in fields(kind) if member.compare]
    names, defaults = getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {})
    return [(name, defaults.get(name, MISSING)) for name in names]


_FIELDS: Final = {kind: _fields(kind) for kind in _TAGS}


def decoded(value: Json) -> Any:
    """The value that JSON stands for; UnknownValueError if this version knows none."""
    if isinstance(value, list):
        return tuple(map(decoded, value))
    if not isinstance(value, dict):
        return value
    tag = value.get(TAG)
    try:
        return _manifest(value) if tag is None or tag == _MANIFEST else _tagged(tag, value)
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownValueError(f"{_shown(tag)}: {error}") from error


def _tagged(tag: Any, value: Mapping[str, Json]) -> Any:
    if tag == _TABLE:
        return {decoded(name): decoded(member) for name, member in value["of"]}
    if tag == _TIME:
        return datetime.fromisoformat(value["is"])
    if tag == _BYTES:
        return b64decode(value["is"])
    kind = _TYPES.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise UnknownValueError(f"there is no type {_shown(tag)}")
    if issubclass(kind, Enum):
        return kind(value["is"])
    return kind(**{name: decoded(member) for name, member in value.items() if name != TAG})


def _manifest(value: Json) -> Any:
    if isinstance(value, list):
        return [_manifest(member) for member in value]
    if not isinstance(value, dict):
        return value
    members = value["of"] if value.get(TAG) == _MANIFEST else value.items()
    return {name: _manifest(member) for name, member in members}


def _shown(tag: Any) -> str:
    return str(tag)[:100]


FORMAT: Final = 3
_HEADER: Final = "hedgerow-record"
_NO_LINE: Final = "it is no line of a record"


@dataclass(frozen=True, slots=True)
class Header:
    """Who decides in the lines that follow."""

    version: str
    component: str
    cluster_id: str
    """The effective id of the source cluster."""
    configuration: Mapping[str, Any]

    def to_line(self) -> str:
        """Its line."""
        members = {"version": self.version, "component": self.component, "clusterId": self.cluster_id}
        return json.dumps({_HEADER: FORMAT, **members, "configuration": self.configuration})


class Unreadable(Unrecorded):
    """A decision that was recorded, and that this version cannot read."""

    __slots__ = ()


Turn: TypeAlias = Journal | Unrecorded
Line: TypeAlias = Header | Turn


def line_of(turn: Journal | Unrecorded) -> str:
    """The line of a turn, without the state that it leaves; UnrecordableError if no record can hold it."""
    if isinstance(turn, Journal) and turn.end is not None:
        *before, last = turn.parts
        turn = replace(turn, parts=(*before, replace(last, wants=replace(turn.end, state=None))))
    return json.dumps(encoded(turn))


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
