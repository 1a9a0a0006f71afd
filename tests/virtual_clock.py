"""An asyncio event loop on virtual time: where it would wait, its clock jumps to the next timer.

A minute of `asyncio.sleep`, `asyncio.timeout` and `loop.call_later` passes in microseconds, in the same order and at
the same readings of `loop.time()` every time. The loop opens no socket and no self-pipe, so it also runs where sockets
are forbidden.

A test is written as a coroutine and decorated; fixtures and hypothesis strategies arrive as arguments as usual:

    from tests.virtual_clock import virtual_time

    @virtual_time
    async def test_a_nap_takes_as_long_as_it_says() -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(3600)
        assert loop.time() == 3600

`@given` stands above `@virtual_time`. Code that is no test calls `run(coroutine)`. Time starts at 0; `wall_clock()` is
the calendar time that goes with the running loop's clock, from 2024-01-01T00:00:00Z on.

Assumptions: everything that the coroutines wait for happens inside the loop. Sockets, child processes, signals and
threads (`asyncio.to_thread`) are not served. When all tasks wait and no timer is left, nothing can ever happen again:
the loop raises `DeadlockError` instead of hanging. Async fixtures of pytest-asyncio live on another loop and cannot be
combined with it.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, Final, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

START: Final = datetime(2024, 1, 1, tzinfo=UTC)


class DeadlockError(RuntimeError):
    """Every task waits, and nothing that could wake one is scheduled."""


class VirtualClockLoop(asyncio.BaseEventLoop):
    """An event loop whose clock stands still while there is work and jumps to the next timer when there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._selector = _NextTimer(self)

    def time(self) -> float:
        """Seconds of virtual time since the loop was made."""
        return self._now

    def jump_to(self, moment: float) -> None:
        """Move the clock forward; it never goes back."""
        self._now = max(self._now, moment)

    def next_timer(self) -> float:
        """When the first of the scheduled timers is due."""
        return self._scheduled[0].when()  # type: ignore[attr-defined, no-any-return]  # the standard loop's heap

    def _process_events(self, event_list: list[Any]) -> None:
        """Nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Nothing sleeps that would have to be woken."""


class _NextTimer:
    """Stands where the standard loop keeps its selector: where it would block, time passes instead."""

    def __init__(self, loop: VirtualClockLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        """No events, and the clock where the wait would have ended."""
        if timeout is None:
            raise DeadlockError("every task waits for something that no timer will bring")
        if timeout > 0:
            self._loop.jump_to(self._loop.next_timer())
        return []


def run(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns when it runs on virtual time, beginning at 0; tasks it leaves behind are cancelled."""
    with asyncio.Runner(loop_factory=VirtualClockLoop) as runner:
        return runner.run(main)


def virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same test as a plain function that runs on virtual time."""

    @functools.wraps(test)
    def on_virtual_time(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(test(*args, **kwargs))

    return on_virtual_time


def wall_clock() -> datetime:
    """The calendar time that goes with the running loop's clock."""
    return START + timedelta(seconds=asyncio.get_running_loop().time())
