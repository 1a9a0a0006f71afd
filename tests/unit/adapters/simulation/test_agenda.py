"""Which entry is looked at next, and when."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.simulation.agenda import Agenda

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_who_waits_is_taken_in_the_order_of_coming_and_once() -> None:
    agenda: Agenda[str] = Agenda()
    for entry in ("b", "a", "b"):
        agenda.add(entry)

    assert [agenda.take() for _ in range(3)] == ["b", "a", None]


def test_of_several_alarms_the_earliest_counts() -> None:
    agenda: Agenda[str] = Agenda()
    for seconds in (30, 10, 20):
        agenda.add_after("a", seconds, NOW)

    assert agenda.due == after(10)
    agenda.ring(after(10))
    assert agenda.take() == "a"
    assert agenda.due is None


def test_an_alarm_never_goes_off_too_early() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add_after("a", 1e-9, NOW)

    assert agenda.due == NOW + timedelta(microseconds=1)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=20))
def test_everything_rings_at_the_earliest_time_that_was_asked_for(wishes: list[tuple[str, int]]) -> None:
    agenda: Agenda[str] = Agenda()
    for entry, seconds in wishes:
        agenda.add_after(entry, seconds, NOW)
    earliest = {entry: min(seconds for other, seconds in wishes if other == entry) for entry, _ in wishes}

    rung: dict[str, int] = {}
    while (due := agenda.due) is not None:
        agenda.ring(due)
        while (taken := agenda.take()) is not None:
            assert taken not in rung
            rung[taken] = round((due - NOW).total_seconds())

    assert rung == earliest
