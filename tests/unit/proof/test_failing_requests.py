"""A server that fails every tenth request in one way or another."""

import asyncio
import functools
from collections.abc import Mapping
from random import Random
from typing import Final

import pytest

from hedgerow.machinery.controller import Change
from hedgerow_adapters.memory import Answered, Fault, Lost
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.runner import keys_under_way
from tests.unit.adapters.runtime.world import CONTROLLER, POLICIES, Ears, World, at_work, shops
from tests.unit.proof.network import Network
from tests.virtual_clock import run

SERVICES: Final = 500
"""Each of them asks for two policies."""
LATENCY: Final = 0.5
"""Of a slow server; otherwise the seconds that a lost answer is waited for would be all that counts."""
SHARE: Final = 0.1
WRITES_AT_A_TIME: Final = 2 * keys_under_way(CONTROLLER)


def answered(code: int, reason: str, headers: Mapping[str, str] | None = None) -> Answered:
    status = {"kind": "Status", "code": code, "reason": reason, "message": reason}
    return Answered(Response(code, status, headers or {}))


TROUBLE: Final = (
    answered(409, "Conflict"),
    answered(429, "TooManyRequests", {"retry-after": "1"}),
    answered(500, "InternalError"),
    answered(503, "ServiceUnavailable"),
)
NO_ANSWER: Final = Lost(after_commit=True, hangs=True)
"""The write is stored, and its sender waits until its own time limit."""


def every_tenth(seed: int) -> list[Fault]:
    """Faults that hit a tenth of all requests, each kind equally often."""
    numbers = Random(seed)  # noqa: S311 -- no secret, but the same numbers every time
    share = SHARE / (len(TROUBLE) + 1)

    def hit(_request: Request) -> bool:
        return numbers.random() < share

    def write_hit(request: Request) -> bool:
        return hit(request) and request.method != "GET"

    return [*(Fault(hit, outcome, times=None) for outcome in TROUBLE), Fault(write_hit, NO_ANSWER, times=None)]


@functools.cache
def seconds_undisturbed() -> float:
    seconds, _ = seconds_to_converge([])
    return seconds


def seconds_to_converge(faults: list[Fault]) -> tuple[float, Ears]:
    """How long it takes, from the start, until all that is wanted exists, and who listened."""
    world, ears = World(*shops(SERVICES)), Ears()
    world.faults = faults

    async def converge() -> float:
        all_exist = asyncio.Event()
        existing = 0

        def count(change: Change) -> None:
            nonlocal existing
            existing += (change.new is not None) - (change.old is not None)
            if existing == 2 * SERVICES:
                all_exist.set()

        end = world.subscribe(POLICIES, count)
        async with at_work(world, transport=Network(world, latency=LATENCY), observer=ears):
            await all_exist.wait()
        end()
        return asyncio.get_running_loop().time()

    seconds = run(converge())
    assert world.pending() == []
    return seconds, ears


@pytest.mark.parametrize("seed", range(2))
def test_with_every_tenth_request_failing_it_takes_less_than_three_times_as_long(seed: int) -> None:
    undisturbed = seconds_undisturbed()
    disturbed, ears = seconds_to_converge(every_tenth(seed))

    assert undisturbed == pytest.approx(2 * SERVICES / WRITES_AT_A_TIME * LATENCY, rel=0.1)
    assert disturbed < 3 * undisturbed
    assert len(ears.failed) > 0.05 * 2 * SERVICES
    assert ears.errors == []
