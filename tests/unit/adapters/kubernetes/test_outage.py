"""An outage is said once, and its end once."""

from hedgerow_adapters.kubernetes.pacing import Outage


def test_many_requests_that_fail_at_once_are_one_outage() -> None:
    outage = Outage()
    marks = [outage.began() for _ in range(32)]

    assert [outage.failed(mark) for mark in marks] == [True] + [False] * 31
    assert [outage.succeeded() for _ in range(3)] == [True, False, False]


def test_a_server_that_answers_from_the_beginning_is_not_back() -> None:
    assert not Outage().succeeded()


def test_a_request_that_fails_beside_answered_ones_is_no_outage() -> None:
    outage = Outage()
    slow = outage.began()
    outage.succeeded()

    assert not outage.failed(slow)
    assert outage.failed(outage.began())


def test_each_outage_is_said() -> None:
    outage = Outage()

    assert [outage.failed(outage.began()), outage.succeeded()] * 2 == [True] * 4
    assert outage.failed(outage.began())
