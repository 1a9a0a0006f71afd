"""When tokens are renewed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.token_requests import renewal
from tests.unit.core.resource_manager.token_requests.workshop import NOW

HOUR = timedelta(hours=1)
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("life", "jitter", "after"),
    [
        (12 * HOUR, 0.0, timedelta(hours=9, minutes=36)),
        (timedelta(minutes=10), 0.0, timedelta(minutes=8)),
        (DAY, 0.0, timedelta(hours=19, minutes=12)),
        (100 * HOUR, 0.0, timedelta(hours=19, minutes=12)),
        (12 * HOUR, 0.5, timedelta(hours=9, minutes=50, seconds=24)),
    ],
)
def test_a_token_is_renewed_after_four_fifths_of_a_life_of_a_day_at_most(
    life: timedelta, jitter: float, after: timedelta
) -> None:
    assert renewal(NOW + life, NOW, jitter) == (after, NOW + after)


@given(
    life=st.timedeltas(min_value=timedelta(minutes=10), max_value=timedelta(days=365)),
    jitter=st.floats(min_value=0, max_value=1, exclude_max=True),
)
def test_renewals_are_spread_over_a_twenty_fifth_of_the_life(life: timedelta, jitter: float) -> None:
    counted, microsecond = min(life, DAY), timedelta(microseconds=1)

    after = renewal(NOW + life, NOW, jitter).renew_after

    assert counted * 0.8 - microsecond <= after <= counted * 0.84
    assert after < counted * 0.84 or jitter > 0.999


def test_a_token_that_is_not_valid_any_more_would_be_renewed_at_once() -> None:
    assert renewal(NOW - HOUR, NOW, 0.5).renew_at <= NOW
