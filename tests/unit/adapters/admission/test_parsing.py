"""How many reviews are parsed at a time."""

import asyncio
import gc
import json

import pytest

from hedgerow_adapters.admission.exchange import (
    COUNTED_AT_ONCE,
    HUGE,
    LARGE_BODY,
    REST,
    Parsing,
    TooLargeError,
    parsed,
    parsed_size,
)
from hedgerow_adapters.listening.connections import CrowdedError
from tests.virtual_clock import virtual_time

MEBIBYTE = 2**20
DENSE = {
    "lists": (b"[[]],", 38),
    "empty lists": (b"[],", 31),
    "empty objects": (b"{},", 31),
    "objects": (b'{"a":0},', 33),
    "texts": (b'"ab",', 19),
    "numbers": (b"0.1,", 15),
}
"""Texts, and how many bytes of memory a parser took for each byte of them when it was measured."""


def now() -> float:
    return asyncio.get_running_loop().time()


async def use(parsing: Parsing, size: int, seconds: float, patience: float = 60) -> float:
    """When a review of that size found room, which it keeps for so many seconds."""
    async with parsing.room_for(size, now() + patience):
        began = now()
        await asyncio.sleep(seconds)
        return began


@virtual_time
async def test_reviews_wait_until_those_before_leave_room_for_them() -> None:
    parsing, began = Parsing(40 * MEBIBYTE, 10 * MEBIBYTE), now()

    found = await asyncio.gather(*(use(parsing, 15 * MEBIBYTE, seconds=2) for _ in range(5)))

    assert [at - began for at in found] == [0, 0, 2, 2, 4]


@virtual_time
async def test_small_reviews_do_not_wait_for_large_ones() -> None:
    parsing, began = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE), now()
    large = [asyncio.create_task(use(parsing, 90 * MEBIBYTE, seconds=5)) for _ in range(2)]
    await asyncio.sleep(0)

    small = await asyncio.gather(*(use(parsing, MEBIBYTE, seconds=1) for _ in range(10)))

    assert [at - began for at in small] == [0] * 10
    assert [at - began for at in await asyncio.gather(*large)] == [0, 5 + REST]


@virtual_time
async def test_a_huge_review_is_the_only_large_one_and_others_are_served_before_the_next() -> None:
    parsing, began = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE), now()

    found = await asyncio.gather(*(use(parsing, size, seconds=1) for size in (HUGE + 1, HUGE + 1, HUGE, HUGE)))

    assert [at - began for at in found] == pytest.approx([0, 1 + REST, 2 + 2 * REST, 2 + 2 * REST])


@virtual_time
async def test_large_reviews_begin_in_the_order_in_which_they_arrive() -> None:
    parsing, began = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE), now()

    async def one_after_the_other() -> None:
        for _ in range(100):
            await use(parsing, 15 * MEBIBYTE, seconds=1)

    streams = [asyncio.create_task(one_after_the_other()) for _ in range(8)]
    await asyncio.sleep(0.5)

    assert await use(parsing, HUGE + 1, seconds=1) - began < 3
    for stream in streams:
        stream.cancel()


@virtual_time
async def test_small_reviews_leave_their_room_to_a_large_one_that_waits() -> None:
    parsing, began = Parsing(12 * MEBIBYTE, 2 * MEBIBYTE), now()
    small = [asyncio.create_task(use(parsing, MEBIBYTE, seconds=3)) for _ in range(12)]
    await asyncio.sleep(0)
    large = asyncio.create_task(use(parsing, 10 * MEBIBYTE, seconds=1))
    await asyncio.sleep(0)

    late = [asyncio.create_task(use(parsing, MEBIBYTE, seconds=3)) for _ in range(12)]

    assert [at - began for at in await asyncio.gather(*small)] == [0] * 12
    assert await large - began == 3
    assert sorted(at - began for at in await asyncio.gather(*late)) == [3, 3, *[4] * 10]


@virtual_time
async def test_a_review_whose_client_leaves_gives_up_its_room_and_its_place() -> None:
    parsing, began = Parsing(12 * MEBIBYTE, 2 * MEBIBYTE), now()
    first = asyncio.create_task(use(parsing, 10 * MEBIBYTE, seconds=5))
    await asyncio.sleep(0)
    waiting, given = (asyncio.create_task(use(parsing, 10 * MEBIBYTE, seconds=5)) for _ in range(2))
    last = asyncio.create_task(use(parsing, 10 * MEBIBYTE, seconds=5))
    await asyncio.sleep(1)

    waiting.cancel()
    first.cancel()  # which gives room to the next
    given.cancel()

    assert await last - began == 1


@virtual_time
async def test_large_reviews_leave_the_share_of_small_ones_to_them() -> None:
    parsing, began = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE), now()
    small = [asyncio.create_task(use(parsing, MEBIBYTE, seconds=5)) for _ in range(10)]
    await asyncio.sleep(0)

    assert await use(parsing, 90 * MEBIBYTE, seconds=1) == began
    await asyncio.gather(*small)


@virtual_time
async def test_while_a_huge_review_is_there_nobody_searches_its_values_for_cycles() -> None:
    parsing = Parsing()

    async with parsing.room_for(HUGE + 1, now()):
        assert not gc.isenabled()
        parsed(b"[" + b"1," * LARGE_BODY + b"1]")
        assert not gc.isenabled()
    assert gc.isenabled()
    async with parsing.room_for(HUGE, now() + 1):
        assert gc.isenabled()


@virtual_time
async def test_the_size_of_a_large_body_is_estimated_in_slices() -> None:
    slices = 0

    async def others() -> None:
        nonlocal slices
        while True:
            slices += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    await parsed_size(b"[]," * (2 * COUNTED_AT_ONCE))
    beside.cancel()

    assert slices >= 5


@virtual_time
async def test_a_review_that_finds_no_room_in_time_is_crowded_out() -> None:
    parsing = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE)
    large = asyncio.create_task(use(parsing, 90 * MEBIBYTE, seconds=5))
    await asyncio.sleep(0)

    with pytest.raises(CrowdedError):
        await use(parsing, 90 * MEBIBYTE, seconds=5, patience=4)
    await large
    await use(parsing, 90 * MEBIBYTE, seconds=0)


def test_a_review_that_never_finds_room_is_refused() -> None:
    parsing = Parsing(100 * MEBIBYTE, 10 * MEBIBYTE)

    parsing.check(90 * MEBIBYTE)
    with pytest.raises(TooLargeError):
        parsing.check(91 * MEBIBYTE)


@pytest.mark.parametrize(("text", "measured"), DENSE.values(), ids=DENSE)
@pytest.mark.parametrize("length", [1000, LARGE_BODY, 4 * LARGE_BODY])
async def test_the_size_of_a_parsed_review_is_not_underestimated(text: bytes, measured: int, length: int) -> None:
    body = b"[" + text * (length // len(text)) + b"0]"

    assert await parsed_size(body) >= measured * length


async def test_two_objects_as_large_as_can_be_stored_are_parsed() -> None:
    container = {"name": "cart", "image": "cart:1", "env": [{"name": "A", "value": "b"}]}
    text = json.dumps({"spec": {"containers": [container]}}, separators=(",", ":")).encode()

    assert await parsed_size(b"[" + (text + b",") * (3 * MEBIBYTE // len(text)) + b"0]") < 96 * MEBIBYTE


def test_a_large_review_is_parsed_without_a_search_for_cycles_which_goes_on_afterwards() -> None:
    collections: list[str] = []

    def collected(phase: str, _info: dict[str, int]) -> None:
        collections.append(phase)

    gc.callbacks.append(collected)
    try:
        assert len(parsed(b"[" + b"[]," * 100_000 + b"0]")) == 100_001
        assert len(collections) <= 2, "one search at most, when it is over"
        with pytest.raises(ValueError):  # noqa: PT011 -- whatever the codec says
            parsed(b"[" * (LARGE_BODY + 1))
    finally:
        gc.callbacks.remove(collected)
    assert gc.isenabled()
