"""What of an election is worth telling people, as values.

Decides by comparing the election before and after an answer or the passing of time. Knows nothing of logs or metrics.
"""

from dataclasses import dataclass
from enum import Enum

from hedgerow_adapters.leader_election.election import Election, Phase
from hedgerow_adapters.leader_election.lease import Absent, Failed, Found, LeaseReply, Written, holder_of


class EventKind(Enum):
    """What happened; the comment says what an event's detail holds."""

    LEADING = "leading"
    """This process leads from now on; its identity."""
    NEW_LEADER = "new leader"
    """Another process was seen to hold the Lease; its identity."""
    LOST = "lost"
    """This process leads no longer, against its will; the reason, a clause."""
    RELEASED = "released"
    """This process holds the Lease no longer, as it wished; nothing."""
    ABANDONED = "abandoned"
    """The release was not confirmed in time, the Lease runs out by itself; nothing."""
    FORBIDDEN = "forbidden"
    """The API server refused for want of rights; its message."""
    FAILED = "failed"
    """An attempt brought no decision and will be repeated; the problem, a clause."""
    RECOVERED = "recovered"
    """An attempt came to its end as it should, after one that was forbidden or failed; nothing."""


@dataclass(frozen=True, slots=True)
class ElectionEvent:
    """Something that happened in an election."""

    kind: EventKind
    detail: str = ""


_ENTERED = {
    Phase.LEADING: EventKind.LEADING,
    Phase.LOST: EventKind.LOST,
    Phase.RELEASED: EventKind.RELEASED,
    Phase.ABANDONED: EventKind.ABANDONED,
}


def phase_events(before: Election, after: Election) -> tuple[ElectionEvent, ...]:
    """The event of the phase that was entered, and who leads now if that is another than was known."""
    events = []
    if after.phase is not before.phase and after.phase in _ENTERED:
        details = {Phase.LEADING: after.identity, Phase.LOST: after.loss}
        events.append(ElectionEvent(_ENTERED[after.phase], details.get(after.phase, "")))
    holder = holder_of(after.lease) if after.lease is not None else ""
    known = holder_of(before.lease) if before.lease is not None else ""
    if holder not in {"", known, after.identity}:
        events.append(ElectionEvent(EventKind.NEW_LEADER, holder))
    return tuple(events)


def failure_event(failed: Failed) -> ElectionEvent:
    """The event of a request that brought no decision."""
    return ElectionEvent(EventKind.FORBIDDEN if failed.is_forbidden else EventKind.FAILED, failed.problem)


def is_success(outcome: LeaseReply, after: Election) -> bool:
    """Whether an outcome that led to an election has brought its attempt to the end that it was made for.

    A look at the Lease is none if it only prepares a write: that may be refused all the same.
    """
    return isinstance(outcome, Found | Absent | Written) and after.attempt_began is None
