"""The latest Warning events about an object as a block of text, in kubectl's format.

Source: managed-resources §14.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

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
_UNITS: Final = (
    (2 * _MINUTE, _SECOND, None),
    (10 * _MINUTE, _MINUTE, _SECOND),
    (3 * _HOUR, _MINUTE, None),
    (8 * _HOUR, _HOUR, _MINUTE),
    (48 * _HOUR, _HOUR, None),
    (8 * _DAY, _DAY, _HOUR),
    (2 * _YEAR, _DAY, None),
    (8 * _YEAR, _YEAR, _DAY),
    (timedelta.max, _YEAR, None),
)
"""The units of ages below a limit: the first one, and that of the rest if it is shown; a rest of zero is left out."""
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def age_text(age: timedelta) -> str:
    """An age in one or two units; one more than a second below zero is invalid."""
    if age < -_SECOND:
        return "<invalid>"
    age = max(age, timedelta(0))
    unit, rest = next((unit, rest) for below, unit, rest in _UNITS if age < below)
    text = f"{age // unit}{_SIGNS[unit]}"
    left_over = age % unit // rest if rest else 0
    return f"{text}{left_over}{_SIGNS[rest]}" if rest and left_over else text


def warnings_question(kind: Kind, key: ObjectKey) -> ListQuestion:
    """The question for the warnings about an object, and no other events: a namespace may hold many."""
    fields = {
        "involvedObject.apiVersion": kind.api_version,
        "involvedObject.kind": kind.kind,
        "involvedObject.name": key.name,
        "involvedObject.namespace": key.namespace,
        "type": "Warning",
    }
    return ListQuestion(CORE_EVENTS, Cluster.TARGET, key.namespace, field_selector=field_query(fields))


def _subject(event: Manifest) -> tuple[Kind, ObjectKey]:
    involved = _object(event, "involvedObject")
    return Kind.of(involved), ObjectKey(involved.get("namespace") or "", involved.get("name") or "")


def event_block(events: Iterable[Manifest], kind: Kind, key: ObjectKey, now: datetime) -> str:
    """The last five warnings about an object, the latest last; empty if there are none."""
    subject = (kind, key)
    about = [event for event in events if event.get("type") == "Warning" and _subject(event) == subject]
    warnings = sorted(about, key=_order)[-5:]
    return "\n".join(("-> Events:", *(_line(event, now) for event in warnings))) if warnings else ""


def message_with_ages(message_at: Callable[[datetime], str], stored: Condition | None, now: datetime) -> str:
    """The message of a condition that holds ages at a time; the stored one if nothing but the ages has changed."""
    last = stored.last_update_time if stored is not None else None
    if stored is not None and last is not None and message_at(last) == stored.message:
        return stored.message
    return message_at(now.replace(microsecond=0))


def _order(event: Manifest) -> tuple[datetime, ObjectKey]:
    return parse_timestamp(event.get("lastTimestamp")) or _LONG_AGO, key_of(event)


def _line(event: Manifest, now: datetime) -> str:
    source = _object(event, "source").get("component") or event.get("reportingComponent") or ""
    return f"* {source} reported {_interval(event, now)}: {event.get('message') or ''}"


def _interval(event: Manifest, now: datetime) -> str:
    """When an event happened; if more than once, how often and since when."""
    first, last, count = event.get("firstTimestamp"), event.get("lastTimestamp"), event.get("count")
    if isinstance(count, int) and count > 1:
        return f"{_age(last, now)} ago (x{count} over {_age(first, now)})"
    return f"{_age(first or event.get('eventTime'), now)} ago"


def _object(event: Manifest, name: str) -> Mapping[str, Any]:
    """A member of an event; empty if it is no object: a malformed event must not fail the decision."""
    member = event.get(name)
    return member if isinstance(member, (dict, Mapping)) else {}


def _age(timestamp: Any, now: datetime) -> str:
    moment = parse_timestamp(timestamp)
    return "<unknown>" if moment is None else age_text(now - moment)
