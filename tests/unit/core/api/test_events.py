"""How ages are told, and what the latest warnings about an object tell."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.events import age_text, event_block
from hedgerow.machinery.objects import Kind, ObjectKey

SECOND, MINUTE, HOUR, DAY, YEAR = (timedelta(seconds=length) for length in (1, 60, 3600, 86400, 365 * 86400))


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (-1.1 * SECOND, "<invalid>"),
        (-SECOND, "0s"),
        (0 * SECOND, "0s"),
        (2 * MINUTE - SECOND, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + SECOND, "2m1s"),
        (10 * MINUTE - SECOND, "9m59s"),
        (10 * MINUTE + SECOND, "10m"),
        (3 * HOUR - SECOND, "179m"),
        (3 * HOUR + 59 * SECOND, "3h"),
        (8 * HOUR - SECOND, "7h59m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (48 * HOUR - SECOND, "47h"),
        (2 * DAY, "2d"),
        (8 * DAY - SECOND, "7d23h"),
        (8 * DAY + HOUR, "8d"),
        (2 * YEAR - SECOND, "729d"),
        (2 * YEAR, "2y"),
        (8 * YEAR - SECOND, "7y364d"),
        (8 * YEAR + DAY, "8y"),
        (100 * YEAR, "100y"),
    ],
)
def test_an_age_is_told_the_coarser_the_older(age: timedelta, text: str) -> None:
    assert age_text(age) == text


@given(st.timedeltas())
def test_every_age_can_be_told(age: timedelta) -> None:
    assert len(age_text(age)) <= len("<invalid>")


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SERVICE, KEY = Kind("v1", "Service"), ObjectKey("ns", "name")


def warning(**fields: Any) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "ns", "name": "event"},
        "type": "Warning",
        "involvedObject": {"apiVersion": "v1", "kind": "Service", "namespace": "ns", "name": "name"},
        "source": {"component": "service-controller"},
        "firstTimestamp": "2026-01-01T11:00:00Z",
        "lastTimestamp": "2026-01-01T11:59:00Z",
        "message": "m",
        **fields,
    }


def block_of(*events: dict[str, Any]) -> str:
    return event_block(events, SERVICE, KEY, NOW)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "* service-controller reported 60m ago: m"),
        ({"count": 1}, "* service-controller reported 60m ago: m"),
        ({"count": 3}, "* service-controller reported 60s ago (x3 over 60m): m"),
        ({"count": 3, "lastTimestamp": None}, "* service-controller reported <unknown> ago (x3 over 60m): m"),
        ({"source": {}, "reportingComponent": "other"}, "* other reported 60m ago: m"),
        ({"source": None, "message": None}, "*  reported 60m ago: "),
        ({"source": "kubelet", "count": "3"}, "*  reported 60m ago: m"),
        (
            {"firstTimestamp": None, "eventTime": "2026-01-01T11:30:00.000001Z"},
            "* service-controller reported 29m ago: m",
        ),
        ({"firstTimestamp": None}, "* service-controller reported <unknown> ago: m"),
        ({"firstTimestamp": "2026-01-01T12:00:05Z"}, "* service-controller reported <invalid> ago: m"),
    ],
)
def test_an_event_is_one_line(fields: dict[str, Any], line: str) -> None:
    assert block_of(warning(**fields)) == f"-> Events:\n{line}"


INVOLVED = warning()["involvedObject"]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "Normal"},
        {"involvedObject": None},
        *({"involvedObject": {**INVOLVED, field: "other"}} for field in INVOLVED),
    ],
)
def test_other_events_tell_nothing(fields: dict[str, Any]) -> None:
    assert not block_of(warning(**fields))
    assert not block_of()


def numbered(number: int, timestamp: str | None) -> dict[str, Any]:
    name = {"namespace": "ns", "name": f"event-{number}"}
    return warning(metadata=name, message=f"message {number}", lastTimestamp=timestamp)


EVENTS = [
    numbered(0, None),
    numbered(1, "2026-01-01T11:01:00Z"),
    numbered(2, "2026-01-01T11:02:00Z"),
    numbered(3, "2026-01-01T11:03:00Z"),
    numbered(4, "2026-01-01T11:03:00Z"),
    numbered(5, "2026-01-01T11:59:00Z"),
    numbered(6, "2026-01-01T11:59:30Z"),
]


@given(st.permutations(EVENTS))
def test_the_last_five_are_told_in_order_of_time(events: list[dict[str, Any]]) -> None:
    messages = [line.rpartition(": ")[2] for line in block_of(*events).splitlines()[1:]]

    assert messages == [f"message {number}" for number in (2, 3, 4, 5, 6)]
