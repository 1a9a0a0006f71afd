"""Whatever a crowd does to the probes of a leader, it renews its lease in time and answers others."""

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta

import aiohttp
import pytest

from tests.control_plane import PATIENCE, wait_until
from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox

LEASE = "gardener-resource-manager"
ASKERS = 150
LATENCY = 1.5
"""Seconds from a request to its answer."""
KEPT_FOR = timedelta(seconds=15)
"""So long a Lease lasts that nobody renews, and five seconds longer than its holder may do without."""


def renewed_at(sandbox: Sandbox) -> datetime:
    return datetime.fromisoformat(sandbox.get("Lease", sandbox.home, LEASE)["spec"]["renewTime"])


@pytest.mark.slow
async def test_probes_without_end_at_a_slow_api_server_do_not_cost_the_lease(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    sandbox.namespace("shop")
    config = sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home})
    answers = Counter[int]()

    async def ask_on(session: aiohttp.ClientSession, url: str) -> None:
        while True:
            async with session.get(url) as response:
                answers[response.status] += 1

    with proxy.delaying(LATENCY / 2), ResourceManager(sandbox.folder, config) as process:
        await asyncio.to_thread(process.wait_until_at_work)
        began = renewed_at(sandbox)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            url = f"http://127.0.0.1:{process.health_port}/healthz"
            askers = [asyncio.create_task(ask_on(session, url)) for _ in range(ASKERS)]
            await asyncio.to_thread(
                process.wait_for,
                lambda: renewed_at(sandbox) - began > KEPT_FOR,
                f"has not renewed its lease for {KEPT_FOR}",
                120,
            )
            for asker in askers:
                asker.cancel()
            await asyncio.wait(askers)

        assert set(answers) == {200}
        assert process.log_lines("Leader election", level="error") == []


HALF = b"GET /healthz HTTP/1.1\r\nHost: probes\r\n"
CROWD = 2_000
FEW_FILES = 1_024


@pytest.fixture
def files() -> Iterator[None]:
    """As many files for the clients as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed a connection without an answer."""
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.usefixtures("files")
def test_half_sent_requests_are_closed_and_cost_neither_lease_nor_probes_where_files_are_few(
    sandbox: Sandbox,
) -> None:
    sandbox.namespace("shop")
    config = sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home})
    with ResourceManager(sandbox.folder, config, files=FEW_FILES) as process, ExitStack() as stack:
        process.wait_until_at_work()
        crowd = []
        for number in range(CROWD):
            port = process.metrics_port if number % 2 else process.health_port
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(HALF)
            client.settimeout(0)
            crowd.append(client)
        began = renewed_at(sandbox)

        assert process.probe("/healthz") == (200, "ok")
        assert process.metric("process_open_fds") < FEW_FILES - 100
        waiting = set(crowd)

        def all_closed() -> bool:
            waiting.difference_update([client for client in waiting if is_closed(client)])
            return not waiting

        wait_until(all_closed, timeout=PATIENCE, otherwise=lambda: process.error(f"{len(waiting)} are still open"))
        process.wait_for(
            lambda: renewed_at(sandbox) - began > timedelta(seconds=5), "has not renewed its lease for 5 s"
        )
        assert process.log_lines("Leader election", level="error") == []
        assert process.log_lines("Cannot take connections") == []
