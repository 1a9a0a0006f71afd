"""Compares an open watch with its server from time to time, and ends it where the server was restored from a backup."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from hedgerow_adapters.informer.answers import Refused
from hedgerow_adapters.informer.exchanges import Exchanges
from hedgerow_adapters.protocol.transport import TransportError

COMPARED_EVERY: Final = 60.0
"""Seconds after which an open watch is compared with the server, at least; a random share of a tenth is added."""


@asynccontextmanager
async def compared(
    exchanges: Exchanges, version: Callable[[], str | None], random: Callable[[], float]
) -> AsyncIterator[None]:
    """A context in which a watch is consumed.

    Args:
        exchanges: with the server.
        version: what was delivered so far; none: there is nothing to compare.
        random: numbers between 0 and 1, for jitter.

    Raises:
        RestoredError: the server is at a version before that one.
    """
    consumer = asyncio.timeout(None)
    comparing = asyncio.create_task(_compare(exchanges, version, random, consumer))
    try:
        async with consumer:
            yield
    except TimeoutError:
        if not consumer.expired():
            raise
        raise comparing.result() from None
    finally:
        comparing.cancel()
        await asyncio.wait({comparing})


async def _compare(
    exchanges: Exchanges, version: Callable[[], str | None], random: Callable[[], float], consumer: asyncio.Timeout
) -> Exception:
    """End the consumer once the server turns out to have been restored; why."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(COMPARED_EVERY * (1.0 + 0.1 * random()))
        try:
            if (delivered := version()) is not None:
                await exchanges.compare(delivered)
        except (Refused, TransportError):
            continue  # the watch itself tells of an outage
        except Exception as problem:  # noqa: BLE001 -- raised by the consumer
            consumer.reschedule(loop.time())
            return problem
