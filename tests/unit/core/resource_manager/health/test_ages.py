"""How ages are told."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.health import age_text

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
