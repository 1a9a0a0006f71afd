"""The latest Warning events about an object, told as kubectl tells them, as a block of text below a message.

Source: managed-resources §14.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from hedgerow.api.kubernetes import CORE_EVENTS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import ListQuestion
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.selectors import field_query

_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_YEAR: Final = timedelta(days=365)
_SIGNS: Final = {_SECOND: "s", _MINUTE: "m", _HOUR: "h", _DAY: "d", _YEAR: "y"}
_MOST: Final = 5
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NOTHING: Final[Mapping[str, Any]] = {}


class _Scale(NamedTuple):
    """Below which age it is told in which unit, and in which smaller one what is left over, unless that is zero."""

    below: timedelta
    unit: timedelta
    rest: timedelta | None = None


_SCALES: Final = (
    _Scale(2 * _MINUTE, _SECOND),
    _Scale(10 * _MINUTE, _MINUTE, _SECOND),
    _Scale(3 * _HOUR, _MINUTE),
    _Scale(8 * _HOUR, _HOUR, _MINUTE),
    _Scale(48 * _HOUR, _HOUR),
    _Scale(8 * _DAY, _DAY, _HOUR),
    _Scale(2 * _YEAR, _DAY),
    _Scale(8 * _YEAR, _YEAR, _DAY),
    _Scale(timedelta.max, _YEAR),
)


def age_text(age: timedelta) -> str:
    """An age in one or two units; clocks may differ by a second before an age counts as invalid."""
    if age < -_SECOND:
        return "<invalid>"
    age = max(age, timedelta(0))
    scale = next(scale for scale in _SCALES if age < scale.below)
    text = f"{age // scale.unit}{_SIGNS[scale.unit]}"
    left_over = age % scale.unit // scale.rest if scale.rest else 0
    return f"{text}{left_over}{_SIGNS[scale.rest]}" if scale.rest and left_over else text


def warnings_question(kind: Kind, key: ObjectKey) -> ListQuestion:
    """What has to be asked to know the warnings about an object: for no other events, as a namespace may hold many."""
    fields = {
        "involvedObject.apiVersion": kind.api_version,
        "involvedObject.kind": kind.kind,
        "involvedObject.name": key.name,
        "involvedObject.namespace": key.namespace,
        "type": "Warning",
    }
    return ListQuestion(CORE_EVENTS, Cluster.TARGET, key.namespace, field_selector=field_query(fields))


def is_warning_about(event: Manifest, kind: Kind, key: ObjectKey) -> bool:
    """Whether an event warns of something about an object; which object of that name does not matter."""
    involved = _object(event, "involvedObject")
    subject = ObjectKey(involved.get("namespace") or "", involved.get("name") or "")
    return event.get("type") == "Warning" and (Kind.of(involved), subject) == (kind, key)


def event_block(events: Iterable[Manifest], kind: Kind, key: ObjectKey, now: datetime) -> str:
    """The last five warnings about an object, the latest at the end; empty where there are none."""
    warnings = sorted((event for event in events if is_warning_about(event, kind, key)), key=_order)[-_MOST:]
    return "\n".join(("-> Events:", *(_line(event, now) for event in warnings))) if warnings else ""


def message_with_ages(told: Callable[[datetime], str], said: Condition | None, now: datetime) -> str:
    """What a condition is to say that tells ages; as long as nothing but these is new, what it says already.

    Args:
        told: the message, given the time that ages are counted to.
        said: the condition as it is stored; none where there is none.
        now: the time to count to where there is any news.
    """
    if said is not None and said.last_update_time is not None and told(said.last_update_time) == said.message:
        return said.message
    return told(now.replace(microsecond=0))


def _order(event: Manifest) -> tuple[datetime, ObjectKey]:
    """The time of an event; its name settles what happened within the same second."""
    return parse_timestamp(event.get("lastTimestamp")) or _LONG_AGO, key_of(event)


def _line(event: Manifest, now: datetime) -> str:
    source = _object(event, "source").get("component") or event.get("reportingComponent") or ""
    return f"* {source} reported {_interval(event, now)}: {event.get('message') or ''}"


def _interval(event: Manifest, now: datetime) -> str:
    """When an event happened, and over what time if it happened more than once."""
    first, last, count = event.get("firstTimestamp"), event.get("lastTimestamp"), event.get("count")
    if isinstance(count, int) and count > 1:
        return f"{_age(last, now)} ago (x{count} over {_age(first, now)})"
    return f"{_age(first or event.get('eventTime'), now)} ago"


def _object(event: Manifest, name: str) -> Mapping[str, Any]:
    """A member of an event; empty where it is no object, as events are a courtesy that may not stand in the way."""
    member = event.get(name)
    return member if isinstance(member, (dict, Mapping)) else _NOTHING


def _age(timestamp: Any, now: datetime) -> str:
    moment = parse_timestamp(timestamp)
    return "<unknown>" if moment is None else age_text(now - moment)
