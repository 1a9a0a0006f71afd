"""An event loop on real time in a thread of its own, for requests that a simulation on virtual time waits for."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport
from hedgerow_adapters.simulation.virtual_time import VirtualClockLoop

T = TypeVar("T")


class RealTime:
    """The thread runs while the context is open."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="real time", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs there, for a caller without an event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def over(self, transport: Transport) -> Transport:
        """A transport of that loop, for use on virtual time."""
        return _Across(transport, self._loop)


class _Across:
    """Hands requests from a loop on virtual time to the one of their transport."""

    def __init__(self, transport: Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """The server's answer."""
        here = asyncio.get_running_loop()
        assert isinstance(here, VirtualClockLoop)  # noqa: S101 -- only there time can stand still
        sent = self._transport.send(request, timeout=timeout, may_send=may_send)
        return await here.outside(asyncio.run_coroutine_threadsafe(sent, self._loop))

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        """Refused: on virtual time nobody waits for what happens in the real one."""
        raise NotImplementedError(f"no watch of {request.path} within {timeout:g} s")
