"""Drives the list-and-watch machine over a transport and hands on what it delivers.

Decides only when to try again. It never ends by itself: whatever the server does is answered by another try.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import nullcontext
from typing import Any, Final, NamedTuple, Protocol

from hedgerow.machinery.clusters import EVERYTHING, Cluster, ReadScope
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer import machine
from hedgerow_adapters.informer.exchanges import Exchanges, Refused, RestoredError, UnreadableObjectError, compared
from hedgerow_adapters.informer.machine import Empty, Input, Listed, Listing, Replace, Signal, Watching
from hedgerow_adapters.informer.recovery import restart_delay, search_delay
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Transport, TransportError

SHORTEST_WATCH: Final = 300.0
"""Seconds after which the server is asked to end a watch, at least; a random share of as much again is added."""
SILENCE_MARGIN: Final = 30.0
"""Seconds beyond that after which a silent connection counts as dead."""
HEALTHY_AFTER: Final = 5.0
"""Seconds that a watch has to last so that its end is no reason to wait."""


class Watched(NamedTuple):
    """What a list-and-watch reads."""

    resource: Resource
    cluster: Cluster = Cluster.TARGET
    scope: ReadScope = EVERYTHING


class InformerObserver(Protocol):
    """Hears what happens to a list-and-watch, for logs and metrics."""

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """A list or watch ended; `cause` is short and stable, `problem` is none for an orderly end.

        The causes: `closed` and `closed-early`, `disconnected`, `refused`, `forbidden`, `expired`, `unreadable`,
        `absent` where discovery lacks an optional resource, told once for an absence, `restored` where the server's
        storage was restored from a backup, and `raised` for a defect of the transport or the listener.
        """

    def resumed(self, watched: Watched) -> None:
        """All is well after a problem: everything is listed, and a watch has brought something since, or lasted.

        After an absence: an optional resource that discovery lacked is listed.
        """


async def _pause(seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return False


class Informer:
    """Lists and watches the objects of one resource, or of a scope of it, and reports each change to its listener.

    Expected flow: `run` in a task; `synced` is set after the first complete list. Each delivery arrives in order, the
    next when the listener is through with the last, and `resource_version` is what the deliveries so far have brought
    the listener up to.

    Guarantees: after a bad end the next try waits 0.8 s up to 30 s and jitter, until a watch has lasted. An answer
    that cannot be read, or that the listener refuses by raising, leads to a fresh list, so a listener that raises
    must not have taken any of it. A complete list is delivered to its end before another one begins. A watch that
    resumes, and once a minute an open one, is compared with the server: to a version of the future, which a restored
    backup leaves behind, servers answer with silence. An optional resource that discovery lacks has no objects; it is
    looked for again, ever more rarely, and is listed once it is there. A 404 alone is no absence: what is known stays.
    """

    def __init__(
        self,
        transport: Transport,
        read: Read,
        deliver: Callable[[machine.Delivery], Awaitable[None]],
        *,
        observer: InformerObserver,
        random: Callable[[], float],
        scope: ReadScope = EVERYTHING,
        pause: Callable[[float], Awaitable[bool]] = _pause,
        is_absent: Callable[[], Awaitable[bool]] | None = None,
        is_lossless: bool = False,
    ) -> None:
        """An informer that has asked for nothing yet; it waits until `deliver` is through with what arrives.

        `random` draws numbers between 0 and 1, for jitter. `pause` waits before a further try, and returns true if it
        came back early, as all is well again. After a 404 about an optional resource, `is_absent` tells whether
        discovery lacks it. A transport that `is_lossless` loses nothing: then a watch neither ends nor is compared.
        """
        self.scope: Final = scope
        self._watched = Watched(read.resource, read.cluster, scope)
        self.synced = asyncio.Event()
        self.resource_version = 0
        self.heard_at = asyncio.get_running_loop().time()
        """When the server last showed that nothing is missed, by a whole list or a watch; before when this was made."""
        self._exchanges = Exchanges(transport, read, scope)
        self._deliver = deliver
        self._observer = observer
        self._random = random
        self._pause = pause
        self._is_absent = is_absent if read.may_be_absent else None
        self._is_lossless = is_lossless
        self._state: machine.State = Empty()
        self._fruitless = 0
        self._searches = 0
        self._is_replacing = False
        self._expiries = 0
        self._resumes = False
        self._may_start_anew_at_once = True
        self._is_in_trouble = False
        self._step: asyncio.Task[bool] | None = None
        self._asked_for: asyncio.Future[None] | None = None
        self._under_way: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            if self._must_start_anew:
                self._under_way, self._asked_for = self._asked_for, None
                self._state = Empty()
            if await self._unless_relisted(self._next_step()) is False:
                if not self._searches:
                    self._fruitless += 1
                if not self._must_start_anew:
                    await self._unless_relisted(self._wait())

    async def _wait(self) -> bool:
        if self._searches:
            await _pause(search_delay(self._searches, self._random()))  # the server is well: its return is no news
        elif await self._pause(restart_delay(self._fruitless, self._random())):
            self._fruitless = 0
        return True

    async def relist(self) -> None:
        """Return when a complete list that was begun after this call has been delivered."""
        if self._asked_for is None:
            self._asked_for = asyncio.get_running_loop().create_future()
            if self._step is not None and self._must_start_anew and not self._is_replacing:
                self._step.cancel()
        await asyncio.shield(self._asked_for)

    @property
    def _must_start_anew(self) -> bool:
        """True if somebody waits for a list to begin, and none is under way for others."""
        return self._asked_for is not None and self._under_way is None

    async def _unless_relisted(self, work: Coroutine[Any, Any, bool]) -> bool | None:
        """The result of some work; none if it was given up for the sake of a fresh list."""
        self._step = asyncio.create_task(work)
        try:
            return await self._step
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if self._must_start_anew:
                return None
            given_up = TransportError("the transport gave the request up")
            return await self._ended(Signal.INTERRUPTED, "disconnected", given_up)

    async def _next_step(self) -> bool:
        """Ask for the next page or watch until the end; whether to go on without a pause."""
        try:
            return await self._ask()
        except Refused as refused:
            expired = refused.error.is_expired
            if expired and isinstance(self._state, Listing):
                self._expiries += 1
            await self._ended(Signal.LOST if refused.is_final else Signal.INTERRUPTED, refused.cause, refused)
            # A list after an outage should not wait; one that expires again and again should.
            at_once, self._may_start_anew_at_once = expired and self._may_start_anew_at_once, False
            return at_once
        except TransportError as problem:
            return await self._ended(Signal.INTERRUPTED, "disconnected", problem)
        except RestoredError as problem:
            return await self._ended(Signal.LOST, "restored", problem)
        except (machine.ProtocolError, UnreadableObjectError) as problem:
            return await self._ended(Signal.LOST, "unreadable", problem)
        except Exception as problem:  # noqa: BLE001 -- a defect of the listener must not leave its cache to go stale
            return await self._ended(Signal.LOST, "raised", problem)

    async def _ask(self) -> bool:
        try:
            match self._state:
                case Empty():
                    return await self._list("")
                case Listing(continuation):
                    return await self._list(continuation)
                case Listed(version) | Watching(version):
                    if self._resumes:
                        await self._exchanges.compare(version)
                    self._resumes = True
                    return await self._watch_from(version)
        except Refused as refused:
            if self._is_absent and refused.error.is_unproven_absence and await self._is_absent():
                return await self._found_absent()
            raise

    async def _found_absent(self) -> bool:
        await self._receive(Signal.ABSENT)
        self._heard()
        self._is_well()
        if not self._searches:
            self._observer.interrupted(self._watched, "absent", None)
        self._searches += 1
        self._fruitless = 0
        return False

    async def _ended(self, received: Input, cause: str, problem: Exception) -> bool:
        self._is_in_trouble = True
        self._searches = 0
        self._observer.interrupted(self._watched, cause, problem)
        await self._receive(received)
        return False

    def _heard(self) -> None:
        self.heard_at = asyncio.get_running_loop().time()

    def _is_well(self) -> None:
        if self._is_in_trouble:
            self._is_in_trouble = False
            self._observer.resumed(self._watched)

    async def _list(self, continuation: str) -> bool:
        is_whole = self._expiries >= requests.MOST_EXPIRIES
        await self._receive(await self._exchanges.page(continuation, whole=is_whole))
        if self._searches:
            self._searches = 0
            self._observer.resumed(self._watched)
        if isinstance(self._state, Listed):
            self._expiries = 0
            self._resumes = False
            self._heard()
        return True

    async def _watch_from(self, version: str) -> bool:
        seconds = math.inf if self._is_lossless else SHORTEST_WATCH * (1.0 + self._random())
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with self._exchanges.watch(version, seconds=seconds, patience=seconds + SILENCE_MARGIN) as events:
                await self._consume(events)
        finally:
            lasted = clock() - began >= HEALTHY_AFTER and isinstance(self._state, Watching)
            if lasted:
                self._fruitless = 0
                self._may_start_anew_at_once = True
        await self._receive(Signal.INTERRUPTED)
        self._observer.interrupted(self._watched, "closed" if lasted else "closed-early", None)
        return lasted

    async def _consume(self, events: AsyncIterator[machine.WatchEvent]) -> None:
        await self._receive(Signal.OPENED)
        self._heard()
        lasted = asyncio.get_running_loop().call_later(HEALTHY_AFTER, self._is_well)
        try:
            async with nullcontext() if self._is_lossless else compared(self._exchanges, self._delivered, self._random):
                async for event in events:
                    await self._receive(event)
                    self._heard()
                    self._is_well()
        finally:
            lasted.cancel()

    def _delivered(self) -> str | None:
        return self._state.resource_version if isinstance(self._state, Watching) else None

    async def _receive(self, received: Input) -> None:
        self._state, delivery = machine.advance(self._state, received)
        if delivery is not None:
            self._is_replacing = isinstance(delivery, Replace)
            try:
                await self._deliver(delivery)
            finally:
                self._is_replacing = False
        if isinstance(self._state, Listed | Watching) and self._state.resource_version.isdecimal():
            self.resource_version = int(self._state.resource_version)
        if isinstance(delivery, Replace):
            self.synced.set()
            if self._under_way is not None:
                self._under_way.set_result(None)
                self._under_way = None
