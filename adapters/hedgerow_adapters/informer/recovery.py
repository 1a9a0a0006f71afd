"""How long to wait before a list or watch is tried again, and how the end of an outage ends the wait.

Back-off spares a server that is ill, and makes its clients late once it is well. So as long as somebody waits, the
server is asked every few seconds whether it is ready: when one that was not says that it is, the wait is over for all.
One that is ready the first time that it is asked has a different problem, which waiting is for: no wait is cut short.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

FIRST: Final = 0.8
LONGEST: Final = 30.0
_DOUBLINGS: Final = 6
FIRST_SEARCH: Final = 5.0
LONGEST_SEARCH: Final = 30.0


def restart_delay(attempt: int, jitter: float) -> float:
    """Seconds before try `attempt`, from 1: 0.8 s doubling up to 30 s, times 1 to 2 by the jitter (0 to 1)."""
    return min(FIRST * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST) * (1.0 + jitter)


def search_delay(search: int, jitter: float) -> float:
    """Seconds before what the server does not know is looked for again: 5 s doubling up to 30 s, stretched as above."""
    return min(FIRST_SEARCH * 2.0 ** min(search - 1, _DOUBLINGS), LONGEST_SEARCH) * (1.0 + jitter)


ASKED_EVERY: Final = 2.0
"""Seconds between two questions, at least; a random share of as much again is added."""
ANSWERED_WITHIN: Final = 4.0
OF_LATE: Final = 60.0
"""Seconds after which an absence says nothing any more about what somebody waits for: so long is the longest wait."""

_IS_READY: Final = Request("GET", "/readyz", accept="*/*")


class Recovery:
    """What those who wait for one API server share: one of them asks for all, and nobody if none waits."""

    def __init__(
        self, transport: Transport, *, random: Callable[[], float], on_recovery: Callable[[], None] = lambda: None
    ) -> None:
        """Asks nothing before somebody waits; `on_recovery` is told that a server that was away is ready again."""
        self._transport = transport
        self._random = random
        self._on_recovery = on_recovery
        self._away_at = float("-inf")
        """When the server was last found to be away."""
        self._waiting: set[asyncio.Future[None]] = set()
        self._asking: asyncio.Task[None] | None = None

    async def pause(self, seconds: float) -> bool:
        """Wait for so many seconds, or until a server that was away is ready again; whether it is."""
        recovered = asyncio.get_running_loop().create_future()
        self._waiting.add(recovered)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        try:
            async with asyncio.timeout(seconds):
                await recovered
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(recovered)
            if not self._waiting:
                self._asking.cancel()
                self._asking = None
        return True

    async def _ask(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(ASKED_EVERY * (1.0 + self._random()))
            if await self._is_ready():
                break
            self._away_at = clock()
        if clock() - self._away_at <= OF_LATE:
            self._away_at = float("-inf")
            self._on_recovery()
            for recovered in self._waiting:
                if not recovered.done():
                    recovered.set_result(None)

    async def _is_ready(self) -> bool:
        try:
            response = await self._transport.send(_IS_READY, timeout=ANSWERED_WITHIN)
        except TransportError:
            return False
        return response.is_success
