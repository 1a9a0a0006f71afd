"""Two candidates for one Lease, in every order in which their requests can be sent, get lost and come late."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

import pytest

from hedgerow_adapters.leader_election import election as elections
from hedgerow_adapters.leader_election.election import TRANSITIONS, Answer, Election, Pause, Phase, Send, Timings
from hedgerow_adapters.leader_election.lease import Written
from tests.unit.proof.two_candidates import fresh, two_leaders

DEPTH: Final = 11
"""Requests that both send together: enough to lead, to renew, to lose, to wait for a lease to run out and take it. One
more than it takes to find each of the defects below."""
APART: Final = (0.9, 1.1)
"""Rates of two clocks each of which is ten percent off: with clocks that are alike there is more room for error."""


def test_whatever_happens_never_two_lead() -> None:
    found, seen = two_leaders(fresh(Timings(), APART), DEPTH)

    assert found is None
    assert seen > 30_000, "it was a walk through many states"


def no_margin(_monkeypatch: pytest.MonkeyPatch) -> Timings:
    """Enough for clocks that are alike. Candidates ask seldom, so that few requests show it."""
    return Timings(lease_duration=15.0, renew_deadline=14.0, retry_period=4.0)


def validity_counts_from_the_answer(monkeypatch: pytest.MonkeyPatch) -> Timings:
    hold = TRANSITIONS[Phase.LEADING, Written]

    def hold_from_now(election: Election, answer: Answer) -> Election:
        return hold(election, replace(answer, sent_at=answer.now))

    for phase in (Phase.FOLLOWING, Phase.LEADING):
        monkeypatch.setitem(TRANSITIONS, (phase, Written), hold_from_now)
    return Timings()


def the_gate_stays_open(monkeypatch: pytest.MonkeyPatch) -> Timings:
    """Neither the deadline nor a request that lasts beyond it ends a leadership."""
    next_step = elections.next_step

    def unbounded(election: Election, now: float, wall_time: datetime) -> Send | Pause:
        step = next_step(election, now, wall_time)
        return replace(step, timeout=election.timings.attempt_timeout) if isinstance(step, Send) else step

    monkeypatch.setattr(elections, "at", lambda election, _now: election)
    monkeypatch.setattr(elections, "may_write", lambda election, _now: election.phase is Phase.LEADING)
    monkeypatch.setattr(elections, "next_step", unbounded)
    return Timings()


@pytest.mark.parametrize("defect", [no_margin, validity_counts_from_the_answer, the_gate_stays_open])
def test_the_walk_would_find_an_election_that_is_wrong(
    defect: Callable[[pytest.MonkeyPatch], Timings], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = two_leaders(fresh(defect(monkeypatch), APART), DEPTH - 1)

    assert found is not None
