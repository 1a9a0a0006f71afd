"""How requests are spread over time where a client connection limits them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.kubernetes.throttle import TokenBucket, throttle


@given(
    rate=st.floats(0.1, 1000),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 10), min_size=1, max_size=200),
)
def test_no_stretch_of_time_sees_more_requests_than_burst_and_rate_allow(
    rate: float, burst: int, pauses: list[float]
) -> None:
    bucket, now, sent = TokenBucket(rate, burst), 0.0, []
    for pause in pauses:
        now += pause
        sent.append(now + bucket.reserve(now))

    assert sent == sorted(sent)
    for first, start in enumerate(sent):
        for last in range(first, len(sent)):
            assert last - first + 1 <= burst + rate * (sent[last] - start) + 1e-6


def test_a_burst_passes_at_once_and_the_next_waits() -> None:
    bucket = TokenBucket(rate=2, burst=3)

    assert [bucket.reserve(100) for _ in range(5)] == [0, 0, 0, 0.5, 1]
    assert bucket.reserve(101.5) == 0


@pytest.mark.parametrize("qps", [None, 0, -1])
def test_without_a_positive_rate_nothing_is_throttled(qps: float | None) -> None:
    assert throttle(qps, 10) is None


@pytest.mark.parametrize(("qps", "burst", "at_once"), [(2.5, None, 3), (0.1, None, 1), (5, 0, 1), (5, 7, 7)])
def test_as_many_pass_at_once_as_the_burst_says_or_a_second_allows(qps: float, burst: int | None, at_once: int) -> None:
    bucket = throttle(qps, burst)

    assert bucket is not None
    assert [bucket.reserve(0) == 0 for _ in range(at_once + 1)] == [True] * at_once + [False]
