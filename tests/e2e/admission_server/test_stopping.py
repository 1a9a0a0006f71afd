"""A server that stops answers what it has taken on, and what reaches it meanwhile."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from hedgerow_adapters.admission.server import Limits
from tests.e2e.admission_server.clients import Client, Complete, admission_server, ask_once, document, post, until


async def test_reviews_under_way_are_answered_before_the_server_is_gone(pair: Path) -> None:
    view = Complete(complete=False)
    serving = admission_server(pair, view=view, limits=Limits(farewell=0.0, goodbye=0.05))
    running = await serving.__aenter__()
    async with Client.of(running.port) as client, Client.of(running.port) as idle:
        await client.send(post(json.dumps(document(uid="late")).encode()))
        await until(lambda: running.heard.begun == 1)

        stopping = asyncio.create_task(serving.__aexit__(None, None, None))
        await until(lambda: not can_connect(running.port))
        await asyncio.wait([stopping], timeout=0.3)
        assert not stopping.done()
        view.is_complete.set()
        status, answer = await client.response()

        assert (status, json.loads(answer)["response"]["uid"]) == (200, "late")
        assert await client.is_closed()
        assert await idle.is_closed()
        await stopping


async def test_a_review_that_does_not_end_does_not_keep_the_server(pair: Path) -> None:
    limits = Limits(farewell=0.0, drain=0.1, goodbye=0.1)
    async with admission_server(pair, view=Complete(complete=False), limits=limits) as running:
        client = await asyncio.open_connection("127.0.0.1", running.port)
        asking = asyncio.create_task(ask_once(running.port, document()))
        await until(lambda: running.heard.begun == 1)

    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await asking
    client[1].close()


async def test_requests_that_come_while_the_server_says_goodbye_are_answered(pair: Path) -> None:
    serving = admission_server(pair, limits=Limits(farewell=5.0))
    running = await serving.__aenter__()
    async with Client.of(running.port) as known:
        assert (await known.ask(document()))[0] == 200

        running.server.leave()
        stopping = asyncio.create_task(serving.__aexit__(None, None, None))
        await asyncio.sleep(0)
        assert (await ask_once(running.port, document()))[0] == 200
        assert (await known.ask(document()))[0] == 200

        assert await known.is_closed()
        assert can_connect(running.port)
        await stopping
    assert not can_connect(running.port)


def can_connect(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
