"""How long a list or watch waits before it is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.informer.recovery import restart_delay, search_delay


def test_the_wait_doubles_from_eight_tenths_of_a_second_to_half_a_minute() -> None:
    assert [restart_delay(attempt, 0.0) for attempt in range(1, 9)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_what_is_not_there_is_looked_for_after_five_seconds_and_in_the_end_every_half_minute() -> None:
    assert [search_delay(search, 0.0) for search in range(1, 6)] == [5.0, 10.0, 20.0, 30.0, 30.0]


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_jitter_makes_it_longer_by_up_to_as_much_again(attempt: int, jitter: float) -> None:
    assert restart_delay(attempt, 0.0) <= restart_delay(attempt, jitter) <= 2 * restart_delay(attempt, 0.0)
    assert search_delay(attempt, 0.0) <= search_delay(attempt, jitter) <= 2 * search_delay(attempt, 0.0)
