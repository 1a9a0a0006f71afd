"""Drives the list-and-watch machine over a transport and hands on what it delivers.

Decides only when to try again. It never ends by itself: whatever the server does is answered by another try.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol

from hedgerow.machinery.clusters import EVERYTHING, Cluster, Part
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer.answers import Reader, Refused, UnreadableObjectError
from hedgerow_adapters.informer.backoff import restart_delay, search_delay
from hedgerow_adapters.informer.machine import (
    Absent,
    Delivery,
    Empty,
    Input,
    Interrupted,
    Listed,
    Listing,
    Lost,
    Opened,
    ProtocolError,
    Replace,
    State,
    Watching,
    advance,
)
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.api_errors import api_error
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError

PAGE_SIZE: Final = 500
SHORTEST_WATCH: Final = 300.0
"""Seconds after which the server is asked to end a watch, at least; a random share of as much again is added."""
SILENCE_MARGIN: Final = 30.0
"""Seconds beyond that after which a silent connection counts as dead."""
HEALTHY_AFTER: Final = 5.0
"""Seconds that a watch has to last so that its end is no reason to wait."""


class Watched(NamedTuple):
    """What a list-and-watch looks at."""

    resource: Resource
    cluster: Cluster = Cluster.TARGET
    part: Part = EVERYTHING


class InformerObserver(Protocol):
    """Is told what happens to a list-and-watch, for logs and metrics."""

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """A list or watch came to its end; `cause` is short and stable, the problem none for an orderly end.

        The causes: `closed` and `closed-early`, `disconnected`, `refused`, `forbidden`, `expired`, `unreadable`,
        `absent` where the server does not know what may be unknown to it, told once for an absence, and `raised` for a
        defect of whoever carries the requests or is delivered to.
        """
        ...

    def resumed(self, watched: Watched) -> None:
        """All is well where a list or watch had come to its end by a problem.

        Everything that had to be listed has been, and since then a watch has brought something, or lasted.
        """
        ...


async def _pause(seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return False


class Informer:
    """Keeps whoever listens in step with the objects of one resource, or a part of them.

    Expected flow: `run` in a task; `synced` is set after the first complete list. Each delivery arrives in order, and
    `resource_version` is what the deliveries so far have brought the listener up to.

    Guarantees: after an end that is no good sign the next try waits, from 0.8 s up to 30 s and jitter, until a watch
    has lasted; an answer that cannot be read, or that the listener does not take but raises, is told and leads to a
    fresh list. Who raises must not have taken any of it: the list brings it again. An optional resource that the server
    does not know has no objects; it is looked for again, ever more rarely, and is listed once it is there.
    """

    def __init__(
        self,
        transport: Transport,
        read: Read,
        deliver: Callable[[Delivery], None],
        *,
        observer: InformerObserver,
        random: Callable[[], float],
        part: Part = EVERYTHING,
        pause: Callable[[float], Awaitable[bool]] = _pause,
    ) -> None:
        """An informer that has asked for nothing yet.

        Args:
            transport: leads to the API server.
            read: what to list and watch, and what to keep of it.
            deliver: gets what arrives.
            observer: is told what happens.
            random: numbers between 0 and 1, for jitter.
            part: of the objects.
            pause: waits for so many seconds before a further try; true if it came back early, as all is well again.
        """
        self.resource: Final = read.resource
        self.part: Final = part
        self._watched = Watched(read.resource, read.cluster, part)
        self.synced = asyncio.Event()
        self.resource_version = 0
        self.heard_at = asyncio.get_running_loop().time()
        """When the server last showed that nothing is missed, by a whole list or a watch; before when this was made."""
        self._transport = transport
        self._metadata_only = read.metadata_only
        self._label_selector = read.label_selector
        self._field_selector = read.field_selector
        self._is_optional = read.optional
        self._reader = Reader(read.resource, read.keep)
        self._deliver = deliver
        self._observer = observer
        self._random = random
        self._pause = pause
        self._state: State = Empty()
        self._fruitless = 0
        self._searches = 0
        """How many times in a row the server turned out not to know the resource."""
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
            if self._step is not None and self._must_start_anew:
                self._step.cancel()
        await asyncio.shield(self._asked_for)

    @property
    def _must_start_anew(self) -> bool:
        """Whether somebody waits for a list to begin; one that is under way for others comes to its end before."""
        return self._asked_for is not None and self._under_way is None

    async def _unless_relisted(self, work: Coroutine[Any, Any, bool]) -> bool | None:
        """What some work came to; none if it was given up for the sake of a fresh list."""
        self._step = asyncio.create_task(work)
        try:
            return await self._step
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if self._must_start_anew:
                return None
            return self._ended(Interrupted(), "disconnected", TransportError("the transport gave the request up"))

    async def _next_step(self) -> bool:
        """Ask for the next page or watch until the end; whether to go on without a pause."""
        try:
            return await self._ask()
        except Refused as refused:
            expired = refused.error.is_expired
            self._ended(Lost() if refused.is_final else Interrupted(), _cause_of(refused), refused)
            # A list after an outage should not wait; one that expires again and again should.
            at_once, self._may_start_anew_at_once = expired and self._may_start_anew_at_once, False
            return at_once
        except TransportError as problem:
            return self._ended(Interrupted(), "disconnected", problem)
        except (ProtocolError, UnreadableObjectError) as problem:
            return self._ended(Lost(), "unreadable", problem)
        except Exception as problem:  # noqa: BLE001 -- a defect of the listener must not leave its cache to go stale
            return self._ended(Lost(), "raised", problem)

    async def _ask(self) -> bool:
        try:
            match self._state:
                case Empty():
                    return await self._list("")
                case Listing(continuation):
                    return await self._list(continuation)
                case Listed(version) | Watching(version):
                    return await self._watch_from(version)
        except Refused as refused:
            if self._is_optional and refused.is_absence:
                return self._found_absent()
            raise

    def _found_absent(self) -> bool:
        """Take it that there are no objects, as the server answers and knows nothing of them."""
        self._receive(Absent())
        self._heard()
        self._is_well()
        if not self._searches:
            self._observer.interrupted(self._watched, "absent", None)
        self._searches += 1
        self._fruitless = 0
        return False

    def _ended(self, received: Input, cause: str, problem: Exception) -> bool:
        self._is_in_trouble = True
        self._searches = 0
        self._observer.interrupted(self._watched, cause, problem)
        self._receive(received)
        return False

    def _heard(self) -> None:
        self.heard_at = asyncio.get_running_loop().time()

    def _is_well(self) -> None:
        if self._is_in_trouble:
            self._is_in_trouble = False
            self._observer.resumed(self._watched)

    async def _list(self, continuation: str) -> bool:
        request = requests.list_page(
            self.resource,
            namespace=self.part.namespace,
            name=self.part.name,
            limit=PAGE_SIZE,
            continuation=continuation,
            selector=self._label_selector,
            field_selector=self._field_selector,
            metadata_only=self._metadata_only,
        )
        response = await self._transport.send(request)
        if not response.is_success:
            raise Refused(request, api_error(response))
        self._receive(self._reader.page(response.body))
        self._searches = 0
        if isinstance(self._state, Listed):
            self._heard()
        return True

    async def _watch_from(self, version: str) -> bool:
        seconds = SHORTEST_WATCH * (1.0 + self._random())
        request = requests.watch(
            self.resource,
            resource_version=version,
            timeout_seconds=int(seconds),
            namespace=self.part.namespace,
            name=self.part.name,
            selector=self._label_selector,
            field_selector=self._field_selector,
            metadata_only=self._metadata_only,
        )
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with self._transport.stream(request, timeout=seconds + SILENCE_MARGIN) as stream:
                await self._consume(request, stream)
        finally:
            lasted = clock() - began >= HEALTHY_AFTER and isinstance(self._state, Watching)
            if lasted:
                self._fruitless = 0
                self._may_start_anew_at_once = True
        self._receive(Interrupted())
        self._observer.interrupted(self._watched, "closed" if lasted else "closed-early", None)
        return lasted

    async def _consume(self, request: Request, stream: Stream) -> None:
        if stream.status != 200:  # noqa: PLR2004 -- the status of HTTP that opens a watch
            raise Refused(request, api_error(Response(stream.status, stream.body, stream.headers)))
        self._receive(Opened())
        self._heard()
        lasted = asyncio.get_running_loop().call_later(HEALTHY_AFTER, self._is_well)
        try:
            async for event in stream.events:
                self._receive(self._reader.event(request, event))
                self._heard()
                self._is_well()
        finally:
            lasted.cancel()

    def _receive(self, received: Input) -> None:
        self._state, delivery = advance(self._state, received)
        if delivery is not None:
            self._deliver(delivery)
        if isinstance(self._state, Listed | Watching) and self._state.resource_version.isdecimal():
            self.resource_version = int(self._state.resource_version)
        if isinstance(delivery, Replace):
            self.synced.set()
            if self._under_way is not None:
                self._under_way.set_result(None)
                self._under_way = None


def _cause_of(refused: Refused) -> str:
    if refused.error.is_expired:
        return "expired"
    return "forbidden" if refused.error.is_forbidden else "refused"
