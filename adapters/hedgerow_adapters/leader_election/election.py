"""Who leads, as a state machine on monotonic time.

Decides what to send next, how long to wait, whether this process leads and until when. It must not know the transport,
the event loop or any clock. Every `now` and `sent_at` is a reading in seconds of one clock that never goes back;
wall-clock time only passes through into the fields of the Lease.

Source: managed-resources §3.1 (`leaderElection`), §4.3; decision A-1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Final, TypeAlias

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow_adapters.leader_election.lease import (
    Absent,
    Conflict,
    Failed,
    Found,
    LeaseReply,
    Written,
    duration_of,
    has_same_spec,
    held_by,
    holder_of,
    released,
)
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request

LONG_AGO: Final = float("-inf")
JITTER: Final = 0.5
"""The part of a retry period by which a candidate's pause is shortened at most, so that candidates spread."""


@dataclass(frozen=True, slots=True)
class Timings:
    """The times of an election, in seconds; ValueError if two could lead, or a leader could lose without a retry."""

    lease_duration: float = 15.0
    """How long the others leave a Lease alone that does not change."""
    renew_deadline: float = 10.0
    """How long a leader may write after it sent its last successful renewal."""
    retry_period: float = 2.0
    """The pause between two attempts, of a candidate the longest one."""

    def __post_init__(self) -> None:
        if self.retry_period <= 0:
            raise ValueError("the retry period must be greater than zero")
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("the lease duration must be greater than the renew deadline")
        if self.renew_deadline <= self.retry_period:
            raise ValueError("the renew deadline must be greater than the retry period")

    @property
    def attempt_timeout(self) -> float:
        """How long a request of a leader may take: half the renew deadline, so that a second one fits after it."""
        return self.renew_deadline / 2


class Phase(Enum):
    """Where a process stands in the election."""

    FOLLOWING = "following"  # does not lead and wants to
    LEADING = "leading"
    RELEASING = "releasing"  # wants to lead no more, and the Lease still says that it does
    # The ends: it holds nothing; got no answer to its release, so that the Lease runs out by itself; led, and does so
    # no longer against its will.
    RELEASED = "released"
    ABANDONED = "abandoned"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        """Whether the election is over for this process."""
        return self in {Phase.RELEASED, Phase.ABANDONED, Phase.LOST}


@dataclass(frozen=True, slots=True)
class Election:
    """One process in one election. The fields after `timings` are what it has learned so far."""

    key: ObjectKey
    identity: str
    """What the Lease's holder field says when this process holds it; no other process has the same."""
    timings: Timings
    phase: Phase = Phase.FOLLOWING
    lease: Manifest | None = None
    """The Lease as it was last seen; none: absent, or never seen."""
    claimable_at: float = LONG_AGO
    """When the holder seen last may be succeeded, if it does not show a sign of life before."""
    may_write_next: bool = False
    """Whether `lease` is worth building a write on; otherwise it is looked at first."""
    wake_at: float = LONG_AGO
    attempt_began: float | None = None
    """When the first request of the attempt was sent that is going on; none: between two attempts."""
    valid_until: float = LONG_AGO
    """When a leader stops unless it renews, and when a release is given up."""
    loss: str = ""
    """One clause that says why the lease was lost."""


def may_write(election: Election, now: float) -> bool:
    """The gate of every write: this process leads, and sent its last successful renewal within the renew deadline."""
    return election.phase is Phase.LEADING and now < election.valid_until


def at(election: Election, now: float) -> Election:
    """The election as the passing of time alone leaves it: at its deadline a leader loses, a release is given up."""
    if now < election.valid_until:
        return election
    if election.phase is Phase.LEADING:
        seconds = f"{election.timings.renew_deadline:g} s"
        return replace(election, phase=Phase.LOST, loss=f"it could not be renewed for {seconds}")
    if election.phase is Phase.RELEASING:
        return replace(election, phase=Phase.ABANDONED)
    return election


def resigned(election: Election) -> Election:
    """The election once this process wants to lead no more: a leader has to release first, others are done.

    A follower whose last claim got no answer may hold the Lease without knowing; it then runs out.
    """
    if election.phase is Phase.LEADING:
        return replace(election, phase=Phase.RELEASING, wake_at=LONG_AGO, attempt_began=None)
    return replace(election, phase=Phase.RELEASED) if election.phase is Phase.FOLLOWING else election


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request, and tell the election its outcome."""

    request: Request
    timeout: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing for some seconds."""

    seconds: float


def next_step(election: Election, now: float, wall_time: datetime) -> Send | Pause:
    """What to do next in an election that is not over, as `at(now)` leaves it."""
    is_bounded = election.phase is not Phase.FOLLOWING
    due = min(election.wake_at, election.valid_until) if is_bounded else election.wake_at
    if now < due:
        return Pause(due - now)
    # A candidate loses nothing by waiting, and where the network is slow, it takes long to connect.
    timeout = election.timings.renew_deadline
    if is_bounded:
        timeout = min(election.timings.attempt_timeout, election.valid_until - now)
    return Send(_request(election, wall_time), timeout)


def _request(election: Election, wall_time: datetime) -> Request:
    if not election.may_write_next:
        return requests.get(LEASES, election.key)
    if election.phase is Phase.RELEASING and election.lease is not None:
        return requests.update(LEASES, election.key, released(election.lease, now=wall_time))
    duration = election.timings.lease_duration
    lease = held_by(election.identity, election.lease, election.key, duration=duration, now=wall_time)
    if election.lease is None:
        return requests.create(LEASES, lease, election.key.namespace)
    return requests.update(LEASES, election.key, lease)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a request and when it went and came."""

    outcome: LeaseReply
    sent_at: float
    now: float
    jitter: float
    """Random, from 0 to 1: how much of the jitter to take from the next pause of a candidate."""


def after(election: Election, answer: Answer) -> Election:
    """The election once a request has its outcome; one that comes after the deadline changes nothing any more."""
    current = at(election, answer.now)
    transition = TRANSITIONS.get((current.phase, type(answer.outcome)))
    return current if transition is None else transition(current, answer)


def _go_on(election: Election, answer: Answer, *, may_write_next: bool) -> Election:
    began = answer.sent_at if election.attempt_began is None else election.attempt_began
    return replace(election, may_write_next=may_write_next, wake_at=answer.now, attempt_began=began)


def _pause(election: Election, answer: Answer, *, may_write_next: bool = False) -> Election:
    """The attempt is over.

    A candidate's next one comes half to a whole retry period from now, or when the Lease may be claimed: a release
    and a sign of life are noticed within a retry period, and a dead holder is succeeded without a further one. A leader
    counts the retry period from when it sent the renewal, or began the attempt that failed: so the time that an answer
    takes counts once against the renew deadline, and not twice.
    """
    timings = election.timings
    if election.phase is Phase.FOLLOWING:
        wake_at = answer.now + timings.retry_period * (1 - JITTER * answer.jitter)
        if answer.now < election.claimable_at:
            wake_at = min(wake_at, election.claimable_at)
    else:
        began = election.attempt_began
        if began is None or isinstance(answer.outcome, Written):
            began = answer.sent_at
        wake_at = max(answer.now, began + timings.retry_period)
    return replace(election, may_write_next=may_write_next, wake_at=wake_at, attempt_began=None)


def _observed(election: Election, lease: Manifest, now: float) -> Election:
    """The Lease to build on; a spec that differs from the last one is a sign of life of its holder, as of now.

    Metadata does not count: others may label or annotate a Lease whose holder is dead.
    """
    seen = replace(election, lease=lease)
    if election.lease is not None and has_same_spec(election.lease, lease):
        return seen
    is_anothers = holder_of(lease) not in {"", election.identity}
    duration = duration_of(lease, election.timings.lease_duration)
    return replace(seen, claimable_at=now + duration if is_anothers else LONG_AGO)


def _consider(election: Election, answer: Answer) -> Election:
    if isinstance(answer.outcome, Found):
        seen = _observed(election, answer.outcome.lease, answer.now)
    else:
        seen = replace(election, lease=None)
    return _pause(seen, answer) if answer.now < seen.claimable_at else _go_on(seen, answer, may_write_next=True)


def _hold(election: Election, answer: Answer) -> Election:
    """A stored claim or renewal lets its sender write for the renew deadline from when it was sent."""
    valid_until = answer.sent_at + election.timings.renew_deadline
    if not isinstance(answer.outcome, Written) or valid_until <= answer.now:
        return _pause(election, answer)
    lease = answer.outcome.lease
    leading = replace(election, phase=Phase.LEADING, lease=lease, claimable_at=LONG_AGO, valid_until=valid_until)
    return _pause(leading, answer, may_write_next=True)


def _look(election: Election, answer: Answer) -> Election:
    """After a conflict the Lease is not what we thought: look at once, but only once in an attempt."""
    is_first_request = election.attempt_began is None
    return _go_on(election, answer, may_write_next=False) if is_first_request else _pause(election, answer)


def _keep(election: Election, answer: Answer) -> Election:
    """Renew on the version found if the Lease still names us; one that names another, or nobody, is lost."""
    holder = holder_of(answer.outcome.lease) if isinstance(answer.outcome, Found) else ""
    if isinstance(answer.outcome, Found) and holder == election.identity:
        return _go_on(_observed(election, answer.outcome.lease, answer.now), answer, may_write_next=True)
    if isinstance(answer.outcome, Absent):
        return replace(election, phase=Phase.LOST, lease=None, loss="it was deleted")
    return replace(election, phase=Phase.LOST, loss=f"{holder} holds it" if holder else "it was released by another")


def _give_back(election: Election, answer: Answer) -> Election:
    """Release the version found if the Lease still names us; otherwise there is nothing to release."""
    if isinstance(answer.outcome, Found) and holder_of(answer.outcome.lease) == election.identity:
        return _go_on(_observed(election, answer.outcome.lease, answer.now), answer, may_write_next=True)
    return replace(election, phase=Phase.RELEASED)


Transition: TypeAlias = Callable[[Election, Answer], Election]

TRANSITIONS: Final[Mapping[tuple[Phase, type[LeaseReply]], Transition]] = {
    (Phase.FOLLOWING, Found): _consider,
    (Phase.FOLLOWING, Absent): _consider,
    (Phase.FOLLOWING, Written): _hold,
    (Phase.FOLLOWING, Conflict): _look,
    (Phase.FOLLOWING, Failed): _pause,
    (Phase.LEADING, Found): _keep,
    (Phase.LEADING, Absent): _keep,
    (Phase.LEADING, Written): _hold,
    (Phase.LEADING, Conflict): _look,
    (Phase.LEADING, Failed): _pause,
    (Phase.RELEASING, Found): _give_back,
    (Phase.RELEASING, Absent): _give_back,
    (Phase.RELEASING, Written): _give_back,
    (Phase.RELEASING, Conflict): _look,
    (Phase.RELEASING, Failed): _pause,
}
"""Which rule answers which outcome in which phase; a phase that is final has none."""
