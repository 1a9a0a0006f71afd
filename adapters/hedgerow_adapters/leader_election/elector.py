"""Carries out an election, which decides: sends, waits, and reports what happened as events."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from hedgerow.machinery.objects import ObjectKey, uid_of
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.leader_election.election import (
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
from hedgerow_adapters.leader_election.lease import (
    Absent,
    Failed,
    Found,
    LeaseReply,
    Written,
    holder_of,
    lease_reply_of,
)
from hedgerow_adapters.protocol.transport import Transport, TransportError

SHORTEST_PAUSE: Final = 0.001
"""Seconds; timers that end a hair too early must not turn a pause into a spin."""


class LeadershipLostError(Exception):
    """This process led, and does so no longer against its will: it has to stop."""


class EventKind(Enum):
    """What happened, and in brackets what the event's detail holds."""

    LEADING = "leading"  # from now on (own identity)
    NEW_LEADER = "new leader"  # another process was seen to hold the Lease (its identity)
    LOST = "lost"  # no longer leading, against its will (reason, a clause)
    RELEASED = "released"  # the Lease is given back
    ABANDONED = "abandoned"  # the release was not confirmed in time, the Lease runs out by itself
    FORBIDDEN = "forbidden"  # the API server refused for want of rights (its message)
    FAILED = "failed"  # an attempt brought no decision and will be repeated (problem, a clause)
    RECOVERED = "recovered"  # an attempt succeeded, after one that was forbidden or failed


@dataclass(frozen=True, slots=True)
class ElectionEvent:
    """Something that happened in an election."""

    kind: EventKind
    detail: str = ""


def phase_events(before: Election, after: Election) -> tuple[ElectionEvent, ...]:
    """The event of the phase that was entered, and who leads now if that is another than was known.

    A candidate that ends has given nothing back.
    """
    events = []
    is_told = after.phase is Phase.LEADING or (after.phase.is_final and before.phase is not Phase.FOLLOWING)
    if after.phase is not before.phase and is_told:
        detail = after.identity if after.phase is Phase.LEADING else after.loss
        events.append(ElectionEvent(EventKind(after.phase.value), detail))
    holder = holder_of(after.lease) if after.lease is not None else ""
    known = holder_of(before.lease) if before.lease is not None else ""
    if holder not in {"", known, after.identity}:
        events.append(ElectionEvent(EventKind.NEW_LEADER, holder))
    return tuple(events)


class LeaderElector:
    """One process that wants to lead.

    Expected flow: `run()` as a task; `wait_until_leading()`; work, every write through the gate; `release()` once the
    work is drained. A task of `run()` that is cancelled closes the gate and leaves the Lease to run out.
    """

    def __init__(
        self,
        transport: Transport,
        lease: ObjectKey,
        identity: str,
        timings: Timings | None = None,
        *,
        clock: Callable[[], float] | None = None,
        wall_clock: Callable[[], datetime] = utc_now,
        jitter: Callable[[], float] = random.random,
        on_event: Callable[[ElectionEvent], None] = lambda _event: None,
    ) -> None:
        """An elector that has sent nothing yet.

        The identity is unique among all processes of all times, `<hostname>_<random uuid>`. The timings are 15 s, 10 s
        and 2 s by default. `clock` tells monotonic seconds, by default those of the running event loop; `wall_clock`
        tells aware calendar time, only for what the Lease tells people. `jitter` is a random number from 0 to 1 for
        every pause. `on_event` hears every event as it happens, and must not raise.
        """
        self._transport = transport
        self._election = Election(lease, identity, timings or Timings())
        self._clock = clock or asyncio.get_running_loop().time
        self._wall_clock = wall_clock
        self._jitter = jitter
        self._tell = on_event
        self._fails = False
        self._decided = asyncio.Event()
        self._resigning = asyncio.Event()
        self._over = asyncio.Event()
        self._over.set()
        self.lost = asyncio.Event()
        """Set when this process led and lost; then `run()` raises."""

    def may_write(self) -> bool:
        """Whether this process leads at this moment and does not mean to stop."""
        return not self._over.is_set() and not self._resigning.is_set() and may_write(self._election, self._clock())

    @property
    def lease_uid(self) -> str | None:
        """Which Lease it is that this process saw or wrote last; none: there was none."""
        return None if self._election.lease is None else uid_of(self._election.lease)

    @property
    def holds_nothing(self) -> bool:
        """Whether this process gave the Lease back, or never held it, as far as it knows."""
        return self._election.phase in {Phase.RELEASED, Phase.FOLLOWING}

    async def run(self) -> None:
        """Take part until released; raises LeadershipLostError, which says in one sentence why it led and lost."""
        self._over.clear()
        try:
            while not self._election.phase.is_final:
                await self._take_step()
        finally:
            self._over.set()
            self._decided.set()
        if self._election.phase is Phase.LOST:
            raise LeadershipLostError(f"lost the lease {self._election.key}: {self._election.loss}")

    async def wait_until_leading(self) -> bool:
        """True as soon as this process leads; false once the election ended for it without that."""
        await self._decided.wait()
        return self.may_write()

    async def release(self) -> bool:
        """Close the gate, give the Lease back if this process holds it, and end `run()`.

        False where the API server did not confirm within what is left of the renew deadline, or the lease was lost.
        """
        self.resign()
        await self._over.wait()
        return self.holds_nothing

    def resign(self) -> None:
        """Close the gate, and let `run()` give the Lease back and end."""
        self._resigning.set()

    async def _take_step(self) -> None:
        self._become(at(self._election, self._clock()))
        if self._resigning.is_set():
            self._become(resigned(self._election))
        if self._election.phase.is_final:
            return
        match next_step(self._election, self._clock(), self._wall_clock()):
            case Pause(seconds):
                await self._pause(max(seconds, SHORTEST_PAUSE))
            case Send() as send:
                await self._attempt(send)

    async def _pause(self, seconds: float) -> None:
        """Wait; the wish to release ends a wait, but not those between two tries to release."""
        if self._resigning.is_set():
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._resigning.wait()

    async def _attempt(self, send: Send) -> None:
        sent_at = self._clock()
        outcome = await self._outcome(send)
        if isinstance(outcome, Failed):
            self._fails = True
            kind = EventKind.FORBIDDEN if outcome.is_forbidden else EventKind.FAILED
            self._tell(ElectionEvent(kind, outcome.problem))
        self._become(after(self._election, Answer(outcome, sent_at, self._clock(), self._jitter())))
        # A look at the Lease that only prepares a write proves nothing: the write may be refused all the same.
        is_success = isinstance(outcome, Found | Absent | Written) and self._election.attempt_began is None
        if self._fails and is_success:
            self._fails = False
            self._tell(ElectionEvent(EventKind.RECOVERED))

    async def _outcome(self, send: Send) -> LeaseReply:
        try:
            async with asyncio.timeout(send.timeout):
                response = await self._transport.send(send.request, timeout=send.timeout)
        except TimeoutError:
            return Failed(f"no answer within {send.timeout:.3g} s")
        except TransportError as error:
            return Failed(str(error))
        return lease_reply_of(send.request, response)

    def _become(self, election: Election) -> None:
        """Take over the next state, wake those who wait for it, then tell."""
        before, self._election = self._election, election
        if election.phase is Phase.LEADING:
            self._decided.set()
        if election.phase is Phase.LOST:
            self.lost.set()
        for event in phase_events(before, election):
            self._tell(event)
