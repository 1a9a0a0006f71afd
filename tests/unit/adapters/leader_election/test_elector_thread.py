"""An elector on its own thread, beside a main loop that is busy, or stuck.

The thread runs on real time; each wait is for something that happens, with a limit that only a hang exceeds.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Self

import pytest
from typing_extensions import override

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election.election import Timings
from hedgerow_adapters.leader_election.elector import ElectionEvent, EventKind, LeadershipLostError
from hedgerow_adapters.leader_election.elector_thread import ElectorThread
from hedgerow_adapters.protocol.transport import Request, Response, Stream
from tests.unit.adapters.leader_election.lease_store import LeaseStore

KEY = ObjectKey("garden", "hedgerow")
QUICK = Timings(lease_duration=120, renew_deadline=60, retry_period=0.01)
"""Many renewals a second, and a deadline that no machine misses."""
HANG = 60.0


class Line:
    """A transport to a store, which tells how often the Lease was renewed and who carried the requests."""

    def __init__(self) -> None:
        self.store = LeaseStore()
        self.threads: set[int] = set()
        self.renewed = threading.Semaphore(0)
        self.closed = threading.Event()

    async def __aenter__(self) -> Self:
        self.threads.add(threading.get_ident())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed.set()

    async def send(
        self,
        request: Request,
        *,
        timeout: float = 30.0,  # noqa: ARG002 -- the port's signature
        may_send: object = None,  # noqa: ARG002 -- as above
    ) -> Response:
        self.threads.add(threading.get_ident())
        response = self.store.handle(request)
        if request.method == "PUT" and response.is_success:
            self.renewed.release()
        return response

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    def holder(self) -> str:
        holder: str = self.store.leases[KEY.name]["spec"]["holderIdentity"]
        return holder


class Candidate:
    """A process with its elector, and what it was told on which thread."""

    def __init__(self, *, patience: float = HANG) -> None:
        self.line = Line()
        self.told: list[tuple[EventKind, int]] = []
        self.stuck: list[str] = []
        self.is_stuck = threading.Event()
        self.elector = ElectorThread(
            self.line, KEY, "us", QUICK, on_event=self._hear, on_stuck=self._hear_stuck, patience=patience
        )
        self.task = asyncio.create_task(self.elector.run())

    def _hear(self, event: ElectionEvent) -> None:
        self.told.append((event.kind, threading.get_ident()))

    def _hear_stuck(self, problem: str) -> None:
        self.stuck.append(f"{problem}; may write: {self.elector.may_write()}")
        self.is_stuck.set()


@contextlib.asynccontextmanager
async def leading(*, patience: float = HANG) -> AsyncIterator[Candidate]:
    candidate = Candidate(patience=patience)
    async with asyncio.timeout(HANG):
        assert await candidate.elector.wait_until_leading()
        yield candidate
    candidate.task.cancel()
    await asyncio.wait({candidate.task})


async def test_a_main_loop_that_is_blocked_keeps_its_lease() -> None:
    async with leading() as us:
        renewals = [us.line.renewed.acquire(timeout=HANG) for _ in range(20)]  # blocks the loop

        assert all(renewals)
        assert us.elector.may_write()


async def test_requests_leave_from_the_thread_and_events_are_told_on_the_main_loop() -> None:
    async with leading() as us:
        here = threading.get_ident()

        assert us.told == [(EventKind.LEADING, here)]
        assert len(us.line.threads) == 1
        assert here not in us.line.threads


async def test_a_release_closes_the_gate_at_once_and_gives_the_lease_back() -> None:
    async with leading() as us:
        release = asyncio.create_task(us.elector.release())
        await asyncio.sleep(0)
        assert not us.elector.may_write()

        assert await release
        await us.task

        assert us.line.holder() == ""
        assert not us.elector.may_write()


async def test_a_lost_lease_closes_the_gate_on_all_threads_before_the_main_loop_hears_of_it() -> None:
    async with leading() as us:
        stored = us.line.store.leases[KEY.name]
        usurped = {**stored, "spec": {**stored["spec"], "holderIdentity": "them"}}
        us.line.store.leases[KEY.name] = {**usurped, "metadata": {**stored["metadata"], "resourceVersion": "usurped"}}
        while us.elector.may_write():  # never lets the loop run
            pass
        assert us.told == [(EventKind.LEADING, threading.get_ident())]

        with pytest.raises(LeadershipLostError, match=r"^lost the lease garden/hedgerow: them holds it$"):
            await us.task
        assert [kind for kind, _ in us.told] == [EventKind.LEADING, EventKind.LOST]


async def test_a_main_loop_that_stands_still_for_too_long_gives_the_lease_up() -> None:
    async with leading(patience=1.0) as us:
        assert us.is_stuck.wait(HANG)  # blocks the loop
        problem = "left the election for the lease garden/hedgerow: the main loop has not answered for 1 s"

        assert us.stuck == [f"{problem}; may write: False"]
        assert not us.elector.may_write()
        with pytest.raises(LeadershipLostError, match=f"^{problem}$"):
            await us.task
        assert us.line.closed.wait(HANG)
        assert us.line.holder() == "us"


async def test_who_is_cancelled_stops_writing_and_lets_the_lease_run_out() -> None:
    async with leading() as us:
        us.task.cancel()
        await asyncio.wait({us.task})

        assert not us.elector.may_write()
        assert us.line.holder() == "us"
        assert us.line.closed.wait(HANG)


class BrokenLine(Line):
    """A transport that cannot be entered."""

    @override
    async def __aenter__(self) -> Self:
        raise OSError("no more files")


async def test_a_defect_on_the_thread_ends_the_main_loops_task() -> None:
    elector = ElectorThread(BrokenLine(), KEY, "us", QUICK)

    with pytest.raises(OSError, match="no more files"):
        await elector.run()
    assert not await elector.wait_until_leading()


async def test_a_release_before_the_start_ends_at_once() -> None:
    assert await ElectorThread(Line(), KEY, "us", QUICK).release()
