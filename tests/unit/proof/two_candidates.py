"""Everything that can happen to two candidates for one Lease, as a graph of states to be walked completely.

A state is the election of both, the Lease that the server holds, and what is under way, with all times counted from
now. Two states that differ only in what can no longer matter, such as how long ago something was due, are one: so that
the walk need not sample. The elections are the real ones; time jumps from one event to the next, which loses nothing,
as between two events no gate opens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election import election as elections
from hedgerow_adapters.leader_election.election import Answer, Election, Pause, Phase, Send, Timings
from hedgerow_adapters.leader_election.lease import (
    Absent,
    Conflict,
    Failed,
    Found,
    LeaseReply,
    Written,
    holder_of,
    lease_reply_of,
)
from hedgerow_adapters.protocol.transport import Request
from tests.unit.adapters.leader_election.lease_store import LeaseStore

KEY: Final = ObjectKey("garden", "hedgerow")
SOME_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
ALMOST: Final = 0.8
"""Which part of a request's time limit passes where something comes at the last moment."""
LATE: Final = 1.0
"""Seconds after its sender has given up at which a request arrives that comes too late."""
SAME_TIME: Final = 1e-6
JITTERS: Final = (0.0, 5 / 6)
"""Pauses of 2 and of 4 seconds: on whole seconds more states turn out to be the same."""


class Fate(Enum):
    """What becomes of a request."""

    ANSWERED = auto()
    ANSWERED_LATE = auto()
    """Done at once, the answer comes at the last moment."""
    DONE_LATE = auto()
    """Done and answered at the last moment."""
    LOST = auto()
    ANSWER_LOST = auto()
    DONE_TOO_LATE = auto()
    """Done after its sender has given up."""
    CONFLICT = auto()


READ_FATES: Final = (Fate.ANSWERED, Fate.LOST)
"""To a reader it is one whether its request or the answer gets lost; that what it saw has changed since, a write that
arrives late brings about as well."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request reaches the server; if `answered`, its sender hears of it at the same moment."""

    at: float
    of: int
    request: Request
    answered: bool
    sent_at: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A candidate learns the outcome of its request, or gives up."""

    at: float
    of: int
    outcome: LeaseReply
    sent_at: float


Event: TypeAlias = Arrival | Reply


@dataclass(frozen=True, slots=True)
class State:
    """Two candidates, the Lease, and what is under way. Times of events are real ones, those of elections local."""

    candidates: tuple[Election, Election]
    rates: tuple[float, float]
    lease: dict[str, Any] | None = None
    version: int = 0
    under_way: tuple[Event, ...] = ()
    now: float = 0.0

    @property
    def wall_time(self) -> datetime:
        """The calendar time now, which differs in every two writes of one candidate."""
        return SOME_DAY + timedelta(seconds=self.now)

    def local(self, of: int) -> float:
        """The time now on a candidate's clock."""
        return self.now * self.rates[of]

    @property
    def leaders(self) -> int:
        """How many gates are open now."""
        return sum(elections.may_write(each, self.local(of)) for of, each in enumerate(self.candidates))

    @property
    def is_decided(self) -> bool:
        """Whether one of both is out, so that never again two can lead."""
        return any(each.phase.is_final for each in self.candidates)

    @property
    def requests_needed(self) -> int:
        """How many more it takes at least until both lead."""
        return sum(self._requests_needed(of) for of in (0, 1) if self.candidates[of].phase is not Phase.LEADING)

    def _requests_needed(self, of: int) -> int:
        for event in self.under_way:
            if event.of == of and isinstance(event, Reply):
                return (
                    0 if isinstance(event.outcome, Written) else 1 if isinstance(event.outcome, Found | Absent) else 2
                )
            if event.of == of and isinstance(event, Arrival) and event.answered:
                return 0
        return 1 if self.candidates[of].may_write_next else 2

    def next_states(self) -> Iterator[tuple["State", bool]]:
        """Every state that can follow, and whether a request was sent on the way to it."""
        due: list[tuple[float, Event | int]] = [(event.at, event) for event in self.under_way]
        due += [(self.now + pause, of) for of, pause in self._idle()]
        first = min(at for at, _ in due)
        for at, event in due:
            if at > first + SAME_TIME:
                continue
            later = replace(self, now=max(at, self.now))
            match event:
                case Arrival():
                    yield from ((state, False) for state in later._without(event)._arrived(event))
                case Reply():
                    yield from ((state, False) for state in later._without(event)._told(event))
                case of:
                    yield from later._woken(of)

    def _idle(self) -> Iterator[tuple[int, float]]:
        """The candidates that wait for no answer, and how long they still pause."""
        waiting = {event.of for event in self.under_way if isinstance(event, Reply) or event.answered}
        for of, each in enumerate(self.candidates):
            if of not in waiting:
                step = elections.next_step(each, self.local(of), self.wall_time)
                yield of, step.seconds / self.rates[of] if isinstance(step, Pause) else 0.0

    def _without(self, event: Event) -> "State":
        return replace(self, under_way=tuple(each for each in self.under_way if each is not event))

    def _with(self, of: int, candidate: Election) -> "State":
        one, other = self.candidates
        return replace(self, candidates=(candidate, other) if of == 0 else (one, candidate))

    def _woken(self, of: int) -> Iterator[tuple["State", bool]]:
        """A pause is over: the deadline has come, or the next request goes out."""
        # The pause has ended; that floating-point numbers may fall a hair short of it must not look like another one.
        now = self.local(of) + SAME_TIME / 10
        candidate = elections.at(self.candidates[of], now)
        state = self._with(of, candidate)
        step = None if candidate.phase.is_final else elections.next_step(candidate, now, self.wall_time)
        if isinstance(step, Send):
            fates = READ_FATES if step.request.method == "GET" else tuple(Fate)
            yield from ((after, True) for fate in fates for after in state._sent(of, step, fate))
        else:
            yield state, False

    def _sent(self, of: int, send: Send, fate: Fate) -> Iterator["State"]:
        limit, sent_at = send.timeout / self.rates[of], self.local(of)
        last_moment, given_up = self.now + limit * ALMOST, self.now + limit
        no_answer = Reply(given_up, of, Failed("no answer"), sent_at)
        match fate:
            case Fate.ANSWERED:
                yield from self._arrived(Arrival(self.now, of, send.request, answered=True, sent_at=sent_at))
            case Fate.ANSWERED_LATE:
                outcome, state = self._handled(send.request)
                yield state._plus(Reply(last_moment, of, outcome, sent_at))
            case Fate.DONE_LATE:
                yield self._plus(Arrival(last_moment, of, send.request, answered=True, sent_at=sent_at))
            case Fate.LOST:
                yield self._plus(no_answer)
            case Fate.ANSWER_LOST:
                yield self._handled(send.request)[1]._plus(no_answer)
            case Fate.DONE_TOO_LATE:
                at = given_up + LATE / self.rates[of]
                yield self._plus(no_answer, Arrival(at, of, send.request, answered=False, sent_at=sent_at))
            case Fate.CONFLICT:
                yield from self._told(Reply(self.now, of, Conflict(), sent_at))

    def _plus(self, *events: Event) -> "State":
        return replace(self, under_way=(*self.under_way, *events))

    def _arrived(self, arrival: Arrival) -> Iterator["State"]:
        outcome, state = self._handled(arrival.request)
        if arrival.answered:
            yield from state._told(Reply(self.now, arrival.of, outcome, arrival.sent_at))
        else:
            yield state

    def _handled(self, request: Request) -> tuple[LeaseReply, "State"]:
        store = LeaseStore(self.lease, self.version)
        outcome = lease_reply_of(request, store.handle(request))
        return outcome, replace(self, lease=store.leases.get(KEY.name), version=store.version)

    def _told(self, reply: Reply) -> Iterator["State"]:
        candidate, of = self.candidates[reply.of], reply.of
        has_a_choice = candidate.phase is Phase.FOLLOWING and isinstance(reply.outcome, Found)
        for jitter in JITTERS if has_a_choice else JITTERS[:1]:
            answer = Answer(reply.outcome, reply.sent_at, self.local(of), jitter)
            yield self._with(of, elections.after(candidate, answer))

    def identity(self) -> tuple[object, ...]:
        """What of this state can still matter."""
        versions = {version: place for place, version in enumerate(sorted(self._versions()))}
        return (
            tuple(self._of_candidate(of, versions) for of in (0, 1)),
            _lease_identity(self.lease, versions),
            tuple(sorted((self._of_event(event, versions) for event in self.under_way), key=str)),
        )

    def _versions(self) -> set[str]:
        leases = [self.lease, *(each.lease for each in self.candidates)]
        leases += [event.request.body for event in self.under_way if isinstance(event, Arrival)]
        leases += [getattr(event.outcome, "lease", None) for event in self.under_way if isinstance(event, Reply)]
        return {_version(lease) for lease in leases if lease}

    def _of_candidate(self, of: int, versions: dict[str, int]) -> tuple[object, ...]:
        each, now = self.candidates[of], self.local(of)
        began = None if each.attempt_began is None else max(each.attempt_began - now, -each.timings.retry_period)
        return (
            each.phase,
            _lease_identity(each.lease, versions),
            each.may_write_next,
            None if began is None else round(began, 6),
            *(round(max(time - now, 0), 6) for time in (each.claimable_at, each.wake_at, each.valid_until)),
        )

    def _of_event(self, event: Event, versions: dict[str, int]) -> tuple[object, ...]:
        rest: tuple[object, ...]
        match event:
            case Arrival():
                rest = (event.request.method, _lease_identity(event.request.body, versions), event.answered)
            case Reply():
                lease = getattr(event.outcome, "lease", None)
                rest = (type(event.outcome).__name__, _lease_identity(lease, versions))
        sent_at = round(event.sent_at - self.local(event.of), 6)
        return event.of, round(event.at - self.now, 6), sent_at, *rest


def _version(lease: Any) -> str:
    return str(lease["metadata"].get("resourceVersion", "")).rjust(9)


def _lease_identity(lease: Any, versions: dict[str, int]) -> tuple[object, ...]:
    return (holder_of(lease), versions[_version(lease)]) if lease else ()


def fresh(timings: Timings, rates: tuple[float, float]) -> State:
    """Two candidates that know nothing."""
    one, other = (Election(KEY, name, timings, wake_at=0.0) for name in ("one", "other"))
    return State((one, other), rates)


def two_leaders(start: State, depth: int) -> tuple[State | None, int]:
    """A state in which both lead, reached with at most so many requests, if there is one; and how many were seen."""
    level, seen = [start], {start.identity()}
    for left in range(depth, -1, -1):
        following: list[State] = []
        while level:
            state = level.pop()
            for successor, sent in state.next_states():
                if successor.leaders > 1:
                    return successor, len(seen)
                if (
                    successor.is_decided
                    or successor.requests_needed > left - sent
                    or (identity := successor.identity()) in seen
                ):
                    continue
                seen.add(identity)
                (following if sent else level).append(successor)
        level = following
    return None, len(seen)
