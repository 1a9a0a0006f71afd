"""What of an election is worth telling people, as values.

Decides by comparing the election before and after an answer or the passing of time. Knows nothing of logs or metrics.
"""

from dataclasses import dataclass
from enum import Enum

from hedgerow_adapters.leader_election.election import Election, Phase
from hedgerow_adapters.leader_election.lease import holder_of
from hedgerow_adapters.leader_election.outcomes import Failed, Outcome


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
    """The API server refuses for want of rights, told once until it answers otherwise; its message."""
    FAILED = "failed"
    """An attempt brought no decision and will be repeated; the problem, a clause."""


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


def failure_events(previous: Outcome | None, outcome: Outcome) -> tuple[ElectionEvent, ...]:
    """The event of a request that brought no decision; a refusal for want of rights counts once in a row."""
    if not isinstance(outcome, Failed):
        return ()
    if not outcome.is_forbidden:
        return (ElectionEvent(EventKind.FAILED, outcome.problem),)
    is_repeated = isinstance(previous, Failed) and previous.is_forbidden
    return () if is_repeated else (ElectionEvent(EventKind.FORBIDDEN, outcome.problem),)
