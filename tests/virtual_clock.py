"""Tests on virtual time: where the event loop would wait, its clock jumps to the next timer.

A test is written as a coroutine and decorated; fixtures and hypothesis strategies arrive as arguments as usual:

    from tests.virtual_clock import virtual_time

    @virtual_time
    async def test_a_nap_takes_as_long_as_it_says() -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(3600)
        assert loop.time() == 3600

`@given` stands above `@virtual_time`. Code that is no test calls `run(coroutine)`. Time starts at 0; `wall_clock()` is
the calendar time that goes with the running loop's clock, from 2024-01-01T00:00:00Z on.

What the loop can do stands in `hedgerow_adapters.simulation.virtual_time`. Async fixtures of pytest-asyncio live on
another loop and cannot be combined with it.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, Final, ParamSpec, TypeVar

from hedgerow_adapters.simulation.virtual_time import DeadlockError, VirtualClockLoop

__all__ = ["START", "DeadlockError", "VirtualClockLoop", "run", "virtual_time", "wall_clock"]

T = TypeVar("T")
P = ParamSpec("P")

START: Final = datetime(2024, 1, 1, tzinfo=UTC)


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
