"""Durations as Kubernetes writes them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.scalars import format_duration, format_timestamp, parse_duration, parse_timestamp

YEARS = timedelta(days=365 * 290)


@pytest.mark.parametrize(
    ("text", "duration", "formatted"),
    [
        ("0", timedelta(0), "0s"),
        ("-0", timedelta(0), "0s"),
        ("15s", timedelta(seconds=15), "15s"),
        ("+15s", timedelta(seconds=15), "15s"),
        ("90m", timedelta(minutes=90), "1h30m0s"),
        ("1h30m0s", timedelta(minutes=90), "1h30m0s"),
        ("24h", timedelta(hours=24), "24h0m0s"),
        ("1m", timedelta(minutes=1), "1m0s"),
        ("1h0.5s", timedelta(hours=1, seconds=0.5), "1h0m0.5s"),
        ("100ms", timedelta(milliseconds=100), "100ms"),
        ("1.5s", timedelta(milliseconds=1500), "1.5s"),
        (".5m", timedelta(seconds=30), "30s"),
        ("1.h", timedelta(hours=1), "1h0m0s"),
        ("1.25ms", timedelta(microseconds=1250), "1.25ms"),
        ("7us", timedelta(microseconds=7), "7µs"),
        ("7\u00b5s", timedelta(microseconds=7), "7µs"),
        ("7\u03bcs", timedelta(microseconds=7), "7µs"),
        ("2000ns", timedelta(microseconds=2), "2µs"),
        ("1ns", timedelta(microseconds=1), "1µs"),
        ("-1ns", timedelta(microseconds=-1), "-1µs"),
        ("-1h2m", timedelta(minutes=-62), "-1h2m0s"),
    ],
)
def test_a_duration_is_read_and_written_as_go_does(text: str, duration: timedelta, formatted: str) -> None:
    assert parse_duration(text).unwrap() == duration
    assert format_duration(duration) == formatted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "1d",
        "s",
        ".",
        ".s",
        "1..5s",
        "1h 30m",
        " 1s",
        "1s ",
        "1s\n",
        "--1s",
        "1S",
        "1.5",
        "00",
        "٣s",
        "1" * 300 + "s",
    ],
)
def test_other_texts_are_no_durations(text: str) -> None:
    assert parse_duration(text).failure() == 'must be a duration such as "1h30m0s", "15s" or "100ms"'


def test_a_duration_is_no_longer_than_64_bits_of_nanoseconds() -> None:
    assert parse_duration("9223372036854775807ns").unwrap() > YEARS
    assert parse_duration("9223372036854775808ns").failure() == "must be a duration of at most 292 years"


@given(st.timedeltas(min_value=-YEARS, max_value=YEARS))
def test_every_duration_survives_the_way_through_text(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)).unwrap() == duration


MOMENTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 -- strategies add the zone


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02T03:04:05+02:00", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_any_zone(text: str, moment: datetime) -> None:
    assert parse_timestamp(text) == moment


@pytest.mark.parametrize(
    "value", [None, "", 5, "2026-01-02", "2026-13-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05Z "]
)
def test_anything_else_is_no_moment(value: Any) -> None:
    assert parse_timestamp(value) is None


@given(MOMENTS)
def test_a_moment_survives_the_way_through_text_but_for_fractions_of_a_second(moment: datetime) -> None:
    text = format_timestamp(moment.astimezone(timezone(timedelta(hours=5))))

    assert text.endswith("Z")
    assert parse_timestamp(text) == moment.replace(microsecond=0)
