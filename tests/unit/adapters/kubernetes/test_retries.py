"""Which answers are asked again."""

from collections.abc import Mapping

import pytest

from hedgerow_adapters.kubernetes.pacing import MAX_RETRIES, wait_before_retry


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_a_server_that_says_when_is_asked_again_then(status: int) -> None:
    assert wait_before_retry(status, {"retry-after": "2"}, retries=0) == 2


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        pytest.param(429, {}, id="it does not say when"),
        pytest.param(429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, id="a date"),
        pytest.param(429, {"retry-after": "-1"}, id="negative"),
        pytest.param(429, {"retry-after": "²"}, id="a digit that is no number"),
        pytest.param(200, {"retry-after": "1"}, id="a success"),
        pytest.param(409, {"retry-after": "1"}, id="a conflict"),
    ],
)
def test_every_other_answer_stands(status: int, headers: Mapping[str, str]) -> None:
    assert wait_before_retry(status, headers, retries=0) is None


def test_after_ten_retries_the_answer_stands() -> None:
    waits = [wait_before_retry(429, {"retry-after": "0"}, retries=retries) for retries in range(MAX_RETRIES + 1)]

    assert waits == [0] * 10 + [None]
