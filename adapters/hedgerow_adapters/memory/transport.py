"""The in-memory cluster as a transport: what the HTTP client is for a real API server.

Time is the event loop's, so that a virtual clock governs it too.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from hedgerow_adapters.memory.cluster import InMemoryCluster
from hedgerow_adapters.memory.faults import NoAnswerError
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, Stream, TransportError


class MemoryTransport:
    """Carries requests to an in-memory cluster."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """The cluster's answer; other tasks run before it is asked, as they would while a request travels.

        Raises:
            NotSentError: after they have run, `may_send` says no.
            TransportError: a scripted fault.
        """
        await asyncio.sleep(0)
        if not may_send():
            raise NotSentError
        try:
            return self._cluster.handle(request)
        except NoAnswerError as error:
            await _wait_in_vain(error, timeout)
            raise

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        """A watch. It ends after the request's `timeoutSeconds`, and breaks after `timeout` if that is less.

        Raises:
            TransportError: a scripted fault.
        """
        await asyncio.sleep(0)
        inbox = _Inbox()
        try:
            opened = self._cluster.watch(request, inbox.events.put_nowait, inbox.close)
        except NoAnswerError as error:
            await _wait_in_vain(error, timeout)
            raise
        if isinstance(opened, Response):
            inbox.close(None)
            yield Stream(opened.status, opened.body, inbox.until(None, timeout), opened.headers)
            return
        seconds = float(request.query.get("timeoutSeconds") or 0)
        try:
            yield Stream(200, None, inbox.until(seconds or None, timeout))
        finally:
            opened.close()


class _Inbox:
    """The events of one watch that are still to be read; the last entry is the end."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self._error: TransportError | None = None

    def close(self, error: TransportError | None) -> None:
        self._error = error
        self.events.put_nowait(None)

    async def until(self, server_seconds: float | None, client_seconds: float) -> AsyncIterator[Mapping[str, Any]]:
        """The events until the end: the server's, in order; the client's, by an error."""
        ends_in_order = server_seconds is not None and server_seconds <= client_seconds
        seconds = server_seconds if server_seconds is not None and ends_in_order else client_seconds
        deadline = asyncio.get_running_loop().time() + seconds if math.isfinite(seconds) else None
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    event = await self.events.get()
            except TimeoutError:
                if ends_in_order:
                    return
                raise TransportError(f"no end of the watch within {client_seconds:g} seconds") from None
            if event is None:
                if self._error is not None:
                    raise self._error
                return
            yield event


async def _wait_in_vain(error: NoAnswerError, seconds: float) -> None:
    if error.hangs:
        await asyncio.sleep(seconds)
