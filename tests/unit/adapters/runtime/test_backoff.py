"""How long a key that failed has to wait, alone and among others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.runtime.queue import OverallLimit, failure_delay


def test_a_key_waits_five_milliseconds_doubling_up_to_a_thousand_seconds() -> None:
    delays = [failure_delay(failures) for failures in range(1, 22)]

    assert delays[:5] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert delays[16:] == [327.68, 655.36, 1000.0, 1000.0, 1000.0]
    assert failure_delay(100_000) == 1000.0


def test_all_keys_together_get_a_hundred_at_once_and_then_ten_a_second() -> None:
    limit = OverallLimit()

    waits = [limit.reserve(50.0) for _ in range(130)]

    assert waits[:100] == pytest.approx([0.0] * 100)
    assert waits[100:] == pytest.approx([0.1 * place for place in range(1, 31)])


@given(st.lists(st.floats(0, 30), min_size=1, max_size=400))
def test_the_limit_holds_for_any_pace(pauses: list[float]) -> None:
    limit, now, places = OverallLimit(), 0.0, list[float]()
    for pause in pauses:
        now += pause / 100
        places.append(now + limit.reserve(now))

    assert places == sorted(places)
    for first in range(len(places)):
        for last in range(first + 99, len(places), 37):
            assert last - first + 1 <= 100 + 10 * (places[last] - places[first]) + 1e-6
