"""Moments as Kubernetes writes them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.timestamps import format_timestamp, parse_timestamp

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
