"""What the latest Warning events tell about an object, as a block of text below a message.

Source: managed-resources §14.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.timestamps import parse_timestamp
from hedgerow.resource_manager.health.ages import age_text

_MOST: Final = 5
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NOTHING: Final[Mapping[str, Any]] = {}


def is_warning_about(event: Manifest, kind: Kind, key: ObjectKey) -> bool:
    """Whether an event warns of something about an object; which object of that name does not matter."""
    involved = event.get("involvedObject") or _NOTHING
    subject = ObjectKey(involved.get("namespace") or "", involved.get("name") or "")
    return event.get("type") == "Warning" and (Kind.of(involved), subject) == (kind, key)


def event_block(events: Iterable[Manifest], kind: Kind, key: ObjectKey, now: datetime) -> str:
    """The last five warnings about an object, the latest at the end; empty where there are none.

    Args:
        events: core/v1 Events; those that are no warnings about the object are left out.
        kind: what the object is.
        key: which object it is.
        now: the time that ages are counted to.
    """
    warnings = sorted((event for event in events if is_warning_about(event, kind, key)), key=_order)[-_MOST:]
    return "\n".join(("-> Events:", *(_line(event, now) for event in warnings))) if warnings else ""


def _order(event: Manifest) -> tuple[datetime, ObjectKey]:
    """The time of an event; its name settles what happened within the same second."""
    return parse_timestamp(event.get("lastTimestamp")) or _LONG_AGO, key_of(event)


def _line(event: Manifest, now: datetime) -> str:
    source = (event.get("source") or _NOTHING).get("component") or event.get("reportingComponent") or ""
    return f"* {source} reported {_interval(event, now)}: {event.get('message') or ''}"


def _interval(event: Manifest, now: datetime) -> str:
    """When an event happened, and over what time if it happened more than once."""
    first, last, count = event.get("firstTimestamp"), event.get("lastTimestamp"), event.get("count") or 0
    if count > 1:
        return f"{_age(last, now)} ago (x{count} over {_age(first, now)})"
    return f"{_age(first or event.get('eventTime'), now)} ago"


def _age(timestamp: Any, now: datetime) -> str:
    moment = parse_timestamp(timestamp)
    return "<unknown>" if moment is None else age_text(now - moment)
