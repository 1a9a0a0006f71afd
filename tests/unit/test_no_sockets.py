"""The fixture that keeps unit tests off the network."""

import asyncio
import socket

import pytest


def test_a_unit_test_cannot_open_a_connection() -> None:
    with pytest.raises(Exception, match="A test tried to use socket"):
        socket.create_connection(("127.0.0.1", 80))


async def test_an_event_loop_still_works() -> None:
    await asyncio.to_thread(int)
