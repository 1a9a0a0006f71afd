"""Conditions: their next version, their times, and how long a failure still counts as progress.

Knows no types of conditions. Source: managed-resources §2, §6.1; operator §10.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.scalars import format_timestamp, parse_timestamp

_INITIAL_REASON: Final = "ConditionInitialized"
_INITIAL_MESSAGE: Final = "The condition has been initialized but its semantic check has not been performed yet."
_NO_REASON: Final = "Unspecified"
_NO_MESSAGE: Final = "No message given."


class ConditionStatus(StrEnum):
    """The statuses that controllers write; an object may have others."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"
    PROGRESSING = "Progressing"


@dataclass(frozen=True, slots=True)
class Condition:
    """One aspect of an object's state, and since when it is so."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    """When the status last changed; none: the object lacks the time."""
    last_update_time: datetime | None = None
    """When reason, message or codes last changed."""
    codes: tuple[str, ...] = ()

    def manifest(self) -> dict[str, Any]:
        """The condition as in an object's status, without empty fields."""
        texts = {"type": self.type, "status": str(self.status), "reason": self.reason, "message": self.message}
        times = {"lastTransitionTime": self.last_transition_time, "lastUpdateTime": self.last_update_time}
        stated = {name: format_timestamp(time) for name, time in times.items() if time is not None}
        return {**texts, **stated, **({"codes": list(self.codes)} if self.codes else {})}


def conditions_of(manifest: Manifest) -> tuple[Condition, ...]:
    """The conditions in an object's status, in order. Entries that are no objects are left out."""
    return tuple(map(_parsed, _entries(manifest)))


def _entries(manifest: Manifest) -> Iterator[Mapping[str, Any]]:
    status = manifest.get("status")
    stored = status.get("conditions") if isinstance(status, (dict, Mapping)) else None
    return (entry for entry in stored or () if isinstance(entry, (dict, Mapping)))


def _parsed(entry: Mapping[str, Any]) -> Condition:
    codes = entry.get("codes")
    return Condition(
        _text(entry.get("type")),
        _text(entry.get("status")),
        _text(entry.get("reason")),
        _text(entry.get("message")),
        parse_timestamp(entry.get("lastTransitionTime")),
        parse_timestamp(entry.get("lastUpdateTime")),
        tuple(map(_text, codes)) if isinstance(codes, list) else (),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def find(conditions: Iterable[Condition], condition_type: str) -> Condition | None:
    """The first condition of a type; none if there is none."""
    return next((condition for condition in conditions if condition.type == condition_type), None)


def condition_status(manifest: Manifest, condition_type: str) -> str:
    """The status of the first condition of a type in an object; empty if there is none. Parses no other condition."""
    entries = (entry for entry in _entries(manifest) if entry.get("type") == condition_type)
    return next((_text(entry.get("status")) for entry in entries), "")


def get_or_init(conditions: Iterable[Condition], condition_type: str, now: datetime) -> Condition:
    """The stored condition of a type, or the one before its first check.

    Raises:
        ValueError: the type is empty.
    """
    if not condition_type:
        raise ValueError("conditionType cannot be empty")
    initial = Condition(condition_type, ConditionStatus.UNKNOWN, _INITIAL_REASON, _INITIAL_MESSAGE, now, now)
    return find(conditions, condition_type) or initial


def merge(old: Sequence[Condition], *new: Condition) -> tuple[Condition, ...]:
    """The old conditions, those of the new types replaced; new types come last."""
    merged = {condition.type: condition for condition in old}
    merged.update((condition.type, condition) for condition in new)
    return tuple(merged.values())


def updated(
    old: Condition,
    status: str | None = None,
    reason: str | None = None,
    message: str | None = None,
    codes: Sequence[str] = (),
    *,
    now: datetime,
) -> Condition:
    """The condition with new content; its times change only if the content does.

    Status, reason and message that are None keep the old ones; an empty text says that there is none.
    """
    new = replace(
        old,
        status=status or old.status or ConditionStatus.UNKNOWN,
        reason=old.reason or _INITIAL_REASON if reason is None else reason or _NO_REASON,
        message=old.message or _INITIAL_MESSAGE if message is None else message or _NO_MESSAGE,
        codes=tuple(codes),
    )
    is_explained_anew = (new.reason, new.message, new.codes) != (old.reason, old.message, old.codes)
    return replace(
        new,
        last_transition_time=now if new.status != old.status else old.last_transition_time or now,
        last_update_time=now if is_explained_anew else old.last_update_time or now,
    )


def failed(
    condition: Condition,
    reason: str,
    message: str,
    codes: Sequence[str] = (),
    *,
    now: datetime,
    threshold: timedelta | None = None,
    last_success: datetime | None = None,
    since_update: bool = False,
) -> Condition:
    """The condition after a failed check: `Progressing` while the threshold lasts, else `False`.

    The threshold begins at the last transition of the condition, or at its update, and again when the last operation on
    the object has succeeded. Without one a failure counts at once, as it does after an unknown status.
    """
    is_tolerated = False
    if threshold is not None:
        is_fresh = last_success is not None and now - last_success <= threshold
        since = (condition.last_update_time if since_update else condition.last_transition_time) or now
        is_tolerated = {
            ConditionStatus.TRUE.value: True,
            ConditionStatus.PROGRESSING.value: is_fresh or now - since <= threshold,
            ConditionStatus.FALSE.value: is_fresh or reason != condition.reason,
        }.get(condition.status, False)
    status = ConditionStatus.PROGRESSING if is_tolerated else ConditionStatus.FALSE
    return updated(condition, status, reason, message, codes, now=now)
