"""The election as a state machine."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any, get_args

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election.election import (
    TRANSITIONS,
    Answer,
    Election,
    Pause,
    Phase,
    Send,
    Timings,
    after,
    at,
    may_write,
    next_step,
    resigned,
)
from hedgerow_adapters.leader_election.lease import Absent, Conflict, Failed, Found, LeaseReply, Written

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
FRESH = Election(ObjectKey("garden", "hedgerow"), "us", Timings())


def lease(holder: str, version: int = 1, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": str(version)}, "spec": {"holderIdentity": holder, **spec}}


def told(election: Election, outcome: LeaseReply, *, sent_at: float, now: float, jitter: float = 0.0) -> Election:
    return after(election, Answer(outcome, sent_at, now, jitter))


def method_and_body(election: Election, now: float) -> tuple[str, Any]:
    step = next_step(election, now, NOON)
    assert isinstance(step, Send), step
    return step.request.method, step.request.body


def pause(election: Election, now: float) -> float:
    step = next_step(election, now, NOON)
    assert isinstance(step, Pause), step
    return step.seconds


LOOKED = told(FRESH, Absent(), sent_at=0, now=0.1)
LEADER = told(LOOKED, Written(lease("us")), sent_at=100, now=101, jitter=1)


def test_a_candidate_looks_first() -> None:
    assert method_and_body(FRESH, 0) == ("GET", None)


def test_an_absent_lease_is_created() -> None:
    method, body = method_and_body(LOOKED, 0.1)

    assert (method, body["spec"]["holderIdentity"]) == ("POST", "us")


@pytest.mark.parametrize("holder", ["", "us"], ids=["released", "our own"])
def test_a_lease_that_no_other_holds_is_claimed_at_once_on_its_version(holder: str) -> None:
    method, body = method_and_body(told(FRESH, Found(lease(holder, 7)), sent_at=0, now=0), 0)

    assert (method, body["spec"]["holderIdentity"]) == ("PUT", "us")
    assert body["metadata"]["resourceVersion"] == "7"


def test_the_lease_of_another_is_left_alone_until_it_did_not_change_for_its_duration() -> None:
    seen = told(FRESH, Found(lease("them")), sent_at=0, now=1)
    just_before = told(seen, Found(lease("them")), sent_at=15.9, now=15.999)
    over = told(just_before, Found(lease("them")), sent_at=15.99, now=16)

    assert pause(just_before, 15.999) == pytest.approx(0.001)
    assert method_and_body(over, 16)[0] == "PUT"


def test_every_new_spec_is_a_sign_of_life() -> None:
    renewal = lease("them", 2, renewTime="2024-05-01T12:00:14.000000Z")
    seen = told(FRESH, Found(lease("them", 1)), sent_at=0, now=1)
    renewed = told(seen, Found(renewal), sent_at=14, now=14)

    assert pause(told(renewed, Found(renewal), sent_at=28.9, now=28.9), 28.9) == pytest.approx(0.1)
    assert method_and_body(told(renewed, Found(renewal), sent_at=29, now=29), 29)[0] == "PUT"


def test_a_write_to_the_metadata_is_no_sign_of_life() -> None:
    """Tools label and annotate Leases whose holder is dead; the claim then builds on the version that they wrote."""
    seen = told(FRESH, Found(lease("them", 1)), sent_at=0, now=0)
    for second in range(1, 15):
        seen = told(seen, Found(lease("them", 1 + second)), sent_at=second, now=second)
    method, body = method_and_body(told(seen, Found(lease("them", 16)), sent_at=15, now=15), 15)

    assert (method, body["metadata"]["resourceVersion"]) == ("PUT", "16")


def test_the_times_written_in_a_lease_do_not_count() -> None:
    long_gone = lease("them", renewTime="1970-01-01T00:00:00.000000Z")
    in_the_future = lease("them", renewTime="2070-01-01T00:00:00.000000Z")
    seen = told(FRESH, Found(in_the_future), sent_at=0, now=0)

    assert pause(told(FRESH, Found(long_gone), sent_at=0, now=0), 0) == pytest.approx(2)
    assert method_and_body(told(seen, Found(in_the_future), sent_at=15, now=15), 15)[0] == "PUT"


def test_the_duration_that_a_holder_promised_counts_and_not_ours() -> None:
    promised = Found(lease("them", leaseDurationSeconds=40))
    seen = told(FRESH, promised, sent_at=0, now=0)

    assert pause(told(seen, promised, sent_at=39, now=39), 39) == pytest.approx(1)
    assert method_and_body(told(seen, promised, sent_at=40, now=40), 40)[0] == "PUT"


def test_a_lease_that_was_deleted_under_its_holder_is_not_created_before_it_would_have_run_out() -> None:
    seen = told(FRESH, Found(lease("them")), sent_at=0, now=0)

    assert pause(told(seen, Absent(), sent_at=3, now=3), 3) == pytest.approx(2)
    assert method_and_body(told(seen, Absent(), sent_at=15, now=15), 15)[0] == "POST"


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 2), (0.5, 1.5), (1.0, 1)])
@pytest.mark.parametrize("outcome", [Failed("no"), Found(lease("them"))], ids=["failed", "another's"])
def test_a_candidate_pauses_for_at_most_a_retry_period(outcome: LeaseReply, jitter: float, seconds: float) -> None:
    assert pause(told(FRESH, outcome, sent_at=0, now=5, jitter=jitter), 5) == pytest.approx(seconds)


def test_the_gate_is_open_for_the_renew_deadline_from_when_the_renewal_was_sent() -> None:
    assert [may_write(LEADER, now) for now in (101, 109.999, 110, 111)] == [True, True, False, False]


def test_a_leader_renews_a_retry_period_after_it_sent_the_last_renewal_without_looking() -> None:
    assert pause(LEADER, 101) == pytest.approx(1)
    method, body = method_and_body(LEADER, 103)
    assert (method, body["metadata"]["resourceVersion"]) == ("PUT", "1")


def test_a_leader_whose_answers_take_longer_than_the_retry_period_renews_at_once() -> None:
    renewed = told(LEADER, Written(lease("us", 2)), sent_at=103, now=107.5)
    step = next_step(renewed, 107.5, NOON)

    assert method_and_body(renewed, 107.5)[0] == "PUT"
    assert isinstance(step, Send)
    assert step.timeout == pytest.approx(5)


def test_a_candidate_waits_for_an_answer_as_long_as_the_renew_deadline_as_it_may_have_to_connect_first() -> None:
    step = next_step(FRESH, 0, NOON)

    assert isinstance(step, Send)
    assert step.timeout == pytest.approx(10)


def test_a_claim_whose_answer_took_longer_than_the_deadline_does_not_lead() -> None:
    late = told(LOOKED, Written(lease("us")), sent_at=0, now=10)

    assert late.phase is Phase.FOLLOWING
    assert method_and_body(late, 12)[0] == "GET"


@pytest.mark.parametrize(("sent_at", "timeout"), [(103, 5), (105, 5), (107, 3), (109.5, 0.5)])
def test_a_renewal_is_bounded_by_what_is_left_of_the_deadline(sent_at: float, timeout: float) -> None:
    step = next_step(LEADER, sent_at, NOON)

    assert isinstance(step, Send)
    assert step.timeout == pytest.approx(timeout)


def test_a_renewal_that_failed_late_is_repeated_at_once_after_a_look() -> None:
    hung = told(LEADER, Failed("no answer"), sent_at=103, now=108)

    assert method_and_body(hung, 108)[0] == "GET"


def test_a_renewal_that_failed_fast_waits_for_the_rest_of_the_retry_period() -> None:
    assert pause(told(LEADER, Failed("refused"), sent_at=103, now=103.5), 103.5) == pytest.approx(1.5)


def test_a_leader_with_nothing_to_send_before_its_deadline_waits_for_the_deadline() -> None:
    assert pause(told(LEADER, Failed("refused"), sent_at=109, now=109), 109) == pytest.approx(1)


def test_a_conflict_is_looked_into_at_once_but_only_once_in_an_attempt() -> None:
    surprised = told(LEADER, Conflict(), sent_at=103, now=103.1)
    seen = told(surprised, Found(lease("us", 2)), sent_at=103.1, now=103.2)
    again = told(seen, Conflict(), sent_at=103.2, now=103.3)

    assert method_and_body(surprised, 103.1)[0] == "GET"
    assert method_and_body(seen, 103.2)[1]["metadata"]["resourceVersion"] == "2"
    assert pause(again, 103.3) == pytest.approx(1.7)


@pytest.mark.parametrize(
    ("outcome", "loss"),
    [
        (Found(lease("them", 2)), "them holds it"),
        (Found(lease("", 2)), "it was released by another"),
        (Absent(), "it was deleted"),
    ],
    ids=["taken", "emptied", "deleted"],
)
def test_a_leader_whom_the_lease_no_longer_names_has_lost_at_once(outcome: LeaseReply, loss: str) -> None:
    surprised = told(LEADER, Conflict(), sent_at=103, now=103)
    lost = told(surprised, outcome, sent_at=103, now=103)

    assert (lost.phase, lost.loss) == (Phase.LOST, loss)
    assert not may_write(lost, 103)


def test_a_leader_loses_at_its_deadline_by_time_alone() -> None:
    assert at(LEADER, 109.999) is LEADER
    assert (at(LEADER, 110).phase, at(LEADER, 110).loss) == (Phase.LOST, "it could not be renewed for 10 s")


def test_a_renewal_that_is_answered_after_the_deadline_does_not_revive_a_leader() -> None:
    assert told(LEADER, Written(lease("us", 2)), sent_at=109, now=110).phase is Phase.LOST


def test_who_resigns_may_write_no_more_and_empties_the_lease() -> None:
    resigning = resigned(LEADER)

    assert not may_write(resigning, 101)
    method, body = method_and_body(resigning, 101)
    assert (method, body["spec"]["holderIdentity"], body["spec"]["leaseDurationSeconds"]) == ("PUT", "", 1)
    assert told(resigning, Written(lease("", 2)), sent_at=101, now=101).phase is Phase.RELEASED


def test_a_release_is_repeated_on_the_version_found_while_the_lease_names_us() -> None:
    surprised = told(resigned(LEADER), Conflict(), sent_at=101, now=101)
    ours = told(surprised, Found(lease("us", 2)), sent_at=101, now=101)
    theirs = told(surprised, Found(lease("them", 2)), sent_at=101, now=101)

    assert method_and_body(ours, 101)[1]["metadata"]["resourceVersion"] == "2"
    assert theirs.phase is Phase.RELEASED


def test_a_release_without_an_answer_is_given_up_at_the_deadline() -> None:
    assert at(resigned(LEADER), 110).phase is Phase.ABANDONED


def test_a_follower_that_resigns_has_nothing_to_release() -> None:
    assert resigned(FRESH).phase is Phase.RELEASED


def test_every_phase_that_sends_has_a_rule_for_every_outcome() -> None:
    sending = [phase for phase in Phase if not phase.is_final]

    assert set(TRANSITIONS) == set(product(sending, get_args(LeaseReply)))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase.is_final])
@pytest.mark.parametrize("outcome", [Found(lease("us")), Absent(), Written(lease("us")), Conflict(), Failed("no")])
def test_what_is_over_stays_over(phase: Phase, outcome: LeaseReply) -> None:
    over = replace(LEADER, phase=phase)

    assert told(over, outcome, sent_at=101, now=101) == over


@pytest.mark.parametrize(
    ("timings", "problem"),
    [
        ({"lease_duration": 10.0}, "the lease duration must be greater than the renew deadline"),
        ({"retry_period": 10.0}, "the renew deadline must be greater than the retry period"),
        ({"retry_period": 0.0}, "the retry period must be greater than zero"),
    ],
)
def test_timings_that_cannot_work_are_refused(timings: dict[str, float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Timings(**timings)
