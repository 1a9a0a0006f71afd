"""Drives the list-and-watch machine over a transport and hands on what it delivers.

Decides only when to try again. It never ends by itself: whatever the server does is answered by another try.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from hedgerow.machinery.controller import Watch
from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer.backoff import restart_delay
from hedgerow_adapters.informer.machine import (
    Delivery,
    Empty,
    Expired,
    Input,
    Interrupted,
    Listed,
    Listing,
    Opened,
    Page,
    ProtocolError,
    Replace,
    State,
    WatchEvent,
    Watching,
    advance,
)
from hedgerow_adapters.kubernetes.api_errors import ApiError, api_error
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError

PAGE_SIZE: Final = 500
SHORTEST_WATCH: Final = 300.0
"""Seconds after which the server is asked to end a watch, at least; a random share of as much again is added."""
SILENCE_MARGIN: Final = 30.0
"""Seconds beyond that after which a silent connection counts as dead."""
HEALTHY_AFTER: Final = 5.0
"""Seconds that a watch has to last so that its end is no reason to wait."""


class Refused(Exception):  # noqa: N818 -- an answer of the server, not an error of ours
    """The server answered, and did not do what it was asked to."""

    def __init__(self, request: Request, error: ApiError) -> None:
        super().__init__(error.message)
        self.request = request
        self.error = error


class InformerObserver(Protocol):
    """Is told what happens to a list-and-watch, for logs and metrics."""

    def interrupted(self, resource: Resource, cause: str, problem: Exception | None) -> None:
        """A list or watch came to its end; `cause` is short and stable, the problem none for an orderly end."""
        ...


class Informer:
    """Keeps whoever listens in step with the objects of one resource, of one namespace or of all.

    Expected flow: `run` in a task; `synced` is set after the first complete list. Each delivery arrives in order, and
    `resource_version` is what it brought the listener up to.
    """

    def __init__(
        self,
        transport: Transport,
        watch: Watch,
        deliver: Callable[[Delivery], None],
        *,
        observer: InformerObserver,
        random: Callable[[], float],
        namespace: str = "",
    ) -> None:
        self.resource: Final = watch.resource
        self.namespace: Final = namespace
        self.synced = asyncio.Event()
        self.resource_version = 0
        self._transport = transport
        self._watch = watch
        self._deliver = deliver
        self._observer = observer
        self._random = random
        self._state: State = Empty()
        self._step: asyncio.Task[bool] | None = None
        self._fresh: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """List and watch until cancelled."""
        fruitless = 0
        while True:
            self._step = asyncio.create_task(self._next_step())
            try:
                fruitless = 0 if await self._step else fruitless + 1
                if fruitless:
                    await self._pause(fruitless)
            except asyncio.CancelledError:
                if not self._wants_fresh_list():
                    self._step.cancel()
                    raise
                self._state, fruitless = Empty(), 0

    async def relist(self) -> None:
        """Return when a complete list that was begun after this call has been delivered."""
        if self._fresh is None:
            self._fresh = asyncio.get_running_loop().create_future()
            if self._step is not None:
                self._step.cancel()
        await asyncio.shield(self._fresh)

    def _wants_fresh_list(self) -> bool:
        task = asyncio.current_task()
        return self._fresh is not None and not (task and task.cancelling())

    async def _pause(self, fruitless: int) -> None:
        self._step = asyncio.create_task(self._sleep(restart_delay(fruitless, self._random())))
        await self._step

    async def _sleep(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return True

    async def _next_step(self) -> bool:
        """Ask for the next page or watch until the end; whether that came to something."""
        try:
            match self._state:
                case Empty():
                    return await self._list("")
                case Listing(continuation):
                    return await self._list(continuation)
                case Listed(version) | Watching(version):
                    return await self._watch_from(version)
        except Refused as refused:
            expired = refused.error.is_expired
            self._observer.interrupted(self.resource, "expired" if expired else "refused", refused)
            self._receive(Expired() if expired else Interrupted())
            return expired and self.synced.is_set()
        except (TransportError, ProtocolError) as problem:
            self._observer.interrupted(self.resource, "disconnected", problem)
            self._receive(Interrupted())
        return False

    async def _list(self, continuation: str) -> bool:
        request = requests.list_page(
            self.resource,
            namespace=self.namespace,
            limit=PAGE_SIZE,
            continuation=continuation,
            metadata_only=self._watch.metadata_only,
        )
        response = await self._transport.send(request)
        if not response.is_success:
            raise Refused(request, api_error(response))
        keep, body = self._watch.keep, response.body
        metadata = body.get("metadata") or {}
        kept = tuple([keep(item) for item in body.get("items") or ()])
        self._receive(Page(kept, metadata.get("continue") or "", metadata.get("resourceVersion") or ""))
        return True

    async def _watch_from(self, version: str) -> bool:
        seconds = SHORTEST_WATCH * (1.0 + self._random())
        request = requests.watch(
            self.resource,
            resource_version=version,
            timeout_seconds=int(seconds),
            namespace=self.namespace,
            metadata_only=self._watch.metadata_only,
        )
        clock = asyncio.get_running_loop().time
        began = clock()
        async with self._transport.stream(request, timeout=seconds + SILENCE_MARGIN) as stream:
            await self._consume(request, stream)
        lasted = clock() - began
        self._observer.interrupted(self.resource, "closed" if lasted >= HEALTHY_AFTER else "closed-early", None)
        return lasted >= HEALTHY_AFTER

    async def _consume(self, request: Request, stream: Stream) -> None:
        if stream.status != 200:  # noqa: PLR2004 -- the status of HTTP that opens a watch
            raise Refused(request, api_error(Response(stream.status, stream.body, stream.headers)))
        self._receive(Opened())
        keep = self._watch.keep
        async for event in stream.events:
            kind, body = _parts(event)
            if kind == "ERROR":
                raise Refused(request, api_error(Response(body.get("code") or 0, body)))
            self._receive(WatchEvent(kind, body if kind == "BOOKMARK" else keep(body)))
        self._receive(Interrupted())

    def _receive(self, received: Input) -> None:
        self._state, delivery = advance(self._state, received)
        if isinstance(self._state, Listed | Watching) and self._state.resource_version.isdecimal():
            self.resource_version = int(self._state.resource_version)
        if delivery is not None:
            self._deliver(delivery)
        if isinstance(delivery, Replace):
            self.synced.set()
            if self._fresh is not None:
                self._fresh.set_result(None)
                self._fresh = None


def _parts(event: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    kind, body = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(body, Mapping):
        raise ProtocolError("a watch event without type and object")
    return kind, body
