"""A way to the in-memory cluster on which everything takes its time, and that behaves as the HTTP client does."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from hedgerow_adapters.kubernetes.pacing import wait_before_retry
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory.faults import NoAnswerError
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, Stream, TransportError
from tests.comparisons import is_comparison

LATENCY: Final = 0.005
"""Seconds that a request and its answer take together."""
IN_FLIGHT: Final = 32


class Network:
    """Carries requests to a cluster: so many at a time; one that has left arrives, whatever becomes of its sender."""

    def __init__(
        self,
        cluster: InMemoryCluster,
        *,
        latency: float = LATENCY,
        on_arrival: Callable[[Request], None] = lambda _request: None,
    ) -> None:
        """`on_arrival` is told of every request just before the server sees it."""
        self.asked: list[Request] = []
        self.unanswered: list[Request] = []
        """Whose sender does not know, or not yet, what became of them."""
        self._cluster = cluster
        self._watches = MemoryTransport(cluster)
        self._one_way = latency / 2
        self._on_arrival = on_arrival
        self._places = asyncio.Semaphore(IN_FLIGHT)

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        loop, retries = asyncio.get_running_loop(), 0
        deadline = loop.time() + timeout
        while True:
            async with self._places:
                response = await self._exchange(request, deadline, may_send)
            wait = wait_before_retry(response.status, response.headers, retries=retries)
            if wait is None or loop.time() + wait >= deadline:
                return response
            await asyncio.sleep(wait)
            retries += 1

    async def _exchange(self, request: Request, deadline: float, may_send: Callable[[], bool]) -> Response:
        if not may_send():
            raise NotSentError
        self.asked.append(request)
        self.unanswered.append(request)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Response] = loop.create_future()
        loop.call_later(self._one_way, self._arrive, request, answer)
        try:
            response = await answer
        except NoAnswerError as error:
            if error.hangs:
                await asyncio.sleep(deadline - loop.time())
            raise
        await asyncio.sleep(self._one_way)
        self.unanswered.remove(request)
        return response

    def _arrive(self, request: Request, answer: "asyncio.Future[Response]") -> None:
        self._on_arrival(request)
        try:
            response = self._cluster.handle(request)
        except TransportError as error:
            if not answer.done():
                answer.set_exception(error)
        else:
            if not answer.done():
                answer.set_result(response)

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        self.asked.append(request)
        return self._watches.stream(request, timeout=timeout)

    @property
    def writes(self) -> list[Request]:
        """Those that left, Events not counted."""
        return [request for request in self.asked if request.method != "GET" and "/events" not in request.path]

    @property
    def lists(self) -> int:
        """How many lists were asked for, comparisons with the server's version not counted."""
        asked = [request for request in self.asked if not is_comparison(request.query)]
        return sum(request.method == "GET" and "watch" not in request.query for request in asked)
