"""The raw baseline: a client that sends prepared requests with 32 in flight and does nothing else.

It shows what the API server and the machine allow. The same client fills clusters before a measurement.
"""

import asyncio
import gc
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import aiohttp
from yarl import URL

from benchmarks.prepared import Prepared
from tests.control_plane import ControlPlane

IN_FLIGHT: Final = 32
"""As many as the process has by default."""


def send_all(plane: ControlPlane, requests: Iterable[Prepared]) -> float:
    """Seconds from the first request to the last answer, connecting included; a refusal is an error."""
    return send_chains(plane, ((request,) for request in requests))


def send_chains(plane: ControlPlane, chains: Iterable[Iterable[Prepared]], at_once: int = IN_FLIGHT) -> float:
    """The same for requests that follow one another: of each chain one is under way at a time."""
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        return runner.run(_send_chains(plane, iter(chains), at_once))


def session(plane: ControlPlane) -> aiohttp.ClientSession:
    """Connections to the API server for so many requests at once."""
    tls = ssl.create_default_context(cadata=plane.ca_pem)
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=tls)
    headers = {"Authorization": f"Bearer {plane.token()}"}
    return aiohttp.ClientSession(base_url=plane.url, headers=headers, connector=connector)


async def send(client: aiohttp.ClientSession, request: Prepared) -> None:
    """One request, whose answer is read and forgotten."""
    headers = {"Content-Type": request.content_type}
    url = URL(request.path, encoded=True)
    async with client.request(request.method, url, data=request.body, headers=headers) as response:
        await response.read()
        response.raise_for_status()


async def _send_chains(plane: ControlPlane, chains: Iterator[Iterable[Prepared]], at_once: int) -> float:
    async def work(client: aiohttp.ClientSession) -> None:
        for chain in chains:
            for request in chain:
                await send(client, request)

    async with session(plane) as client:
        gc.disable()  # the prepared objects of a large cluster would be searched again and again
        try:
            began = time.perf_counter()
            await asyncio.gather(*(work(client) for _ in range(at_once)))
            return time.perf_counter() - began
        finally:
            gc.enable()


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's where it is installed, also beside a process that goes without: the baseline stays the same."""
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return uvloop.new_event_loop
