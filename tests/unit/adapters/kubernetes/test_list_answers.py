"""Answers to lists that come slowly, stop coming, or stand for more than they should, on virtual time."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hedgerow_adapters.kubernetes import answers
from hedgerow_adapters.kubernetes.answers import UnreadableError, content_of, decoded_in_slices
from hedgerow_adapters.protocol.requests import list_page
from hedgerow_adapters.protocol.transport import TransportError
from tests.unit.adapters.runtime.world import SERVICES
from tests.virtual_clock import virtual_time

SERVER = "https://api.garden"


class Trickle:
    """An answer whose pieces each take some seconds to arrive."""

    def __init__(self, pieces: Sequence[bytes], *, seconds: float = 0.0, encoding: str | None = None) -> None:
        self.headers = {} if encoding is None else {"Content-Encoding": encoding}
        self.is_closed = False
        self.read = 0
        self._pieces = iter(pieces)
        self._seconds = seconds

    @property
    def content(self) -> "Trickle":
        return self

    async def readany(self) -> bytes:
        await asyncio.sleep(self._seconds)
        piece = next(self._pieces, b"")
        self.read += len(piece)
        return piece

    def close(self) -> None:
        self.is_closed = True


async def received(answer: Any, longest_silence: float = 7.0) -> bytes:
    return await content_of(SERVER, list_page(SERVICES), answer, longest_silence)


@virtual_time
async def test_an_answer_that_goes_on_is_received_however_long_it_takes() -> None:
    piece = b"x" * 7 * answers.SLOWEST
    answer = Trickle([piece] * 1000, seconds=6.9)

    assert await received(answer) == piece * 1000
    assert asyncio.get_running_loop().time() > 6000


@virtual_time
async def test_an_answer_that_trickles_is_given_up_although_it_is_never_silent() -> None:
    answer = Trickle([b"x"] * 1000, seconds=6.0)

    with pytest.raises(TransportError) as caught:
        await received(answer)

    said = f"the answer of {SERVER} to GET /api/v1/services is too slow: it brought 21 bytes in 126 s"
    assert (str(caught.value), answer.is_closed) == (said, True)


@virtual_time
async def test_an_answer_that_stops_is_given_up_after_a_silence() -> None:
    answer = Trickle([b"x", b"y"], seconds=7.1)

    with pytest.raises(TransportError) as caught:
        await received(answer)

    said = f"{SERVER} was silent for 7 s in the middle of its answer to GET /api/v1/services"
    assert (str(caught.value), asyncio.get_running_loop().time()) == (said, 7.0)
    assert answer.is_closed


@virtual_time
async def test_a_packed_answer_is_given_up_once_it_stands_for_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_UNPACKED", 2 * 2**20)
    answer = Trickle([bytes(2**20)] * 1000, encoding="gzip")

    with pytest.raises(TransportError) as caught:
        await received(answer)

    assert str(caught.value) == f"the answer of {SERVER} to GET /api/v1/services unpacks to more than 2 MiB"
    assert (answer.read, answer.is_closed) == (3 * 2**20, True)


@pytest.mark.parametrize("encoding", [None, "identity"])
@virtual_time
async def test_an_answer_that_is_not_packed_may_be_as_large_as_it_is(
    encoding: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_UNPACKED", 2)

    assert await received(Trickle([b"abc", b"def"], encoding=encoding)) == b"abcdef"


@virtual_time
async def test_others_get_their_turns_while_a_long_text_is_decoded() -> None:
    page = {"items": [{"metadata": {"name": "x" * 1000}}] * 2000}
    decoding = asyncio.create_task(decoded_in_slices(json.dumps(page).encode()))
    turns = 0
    while not decoding.done():
        await asyncio.sleep(0)
        turns += 1

    assert await decoding == page
    assert turns > len(json.dumps(page)) // (300 * 1024)


@virtual_time
async def test_a_long_text_that_is_no_json_is_told_as_a_short_one_is() -> None:
    with pytest.raises(UnreadableError, match="is not JSON"):
        await decoded_in_slices(b'{"items": [' + b"1, " * 200_000)
