"""The answers to whether a process is healthy or ready."""

import asyncio

import pytest

from hedgerow_adapters.probes import Check, Endpoint, SharedCheck, health_of, health_of_one, ping
from tests.virtual_clock import virtual_time


def says(problem: str | None) -> Check:
    async def check() -> str | None:
        return problem

    return check


async def broken() -> str | None:
    raise ConnectionError("connection refused")


async def hung() -> str | None:
    await asyncio.sleep(3600)
    return None


HEALTHY = Endpoint("healthz", {"ping": ping, "apiserver-healthz": says(None)})
NOT_READY = Endpoint("readyz", {"webhook-server": ping, "informer-sync": says("informers not synced yet")})


async def test_what_is_healthy_says_ok() -> None:
    answer = await health_of(HEALTHY)

    assert (answer.status, answer.text) == (200, "ok")


async def test_who_asks_for_it_gets_the_checks_by_name() -> None:
    answer = await health_of(HEALTHY, verbose=True)

    assert (answer.status, answer.text) == (200, "[+]apiserver-healthz ok\n[+]ping ok\nhealthz check passed\n")


async def test_what_fails_lists_the_checks_and_withholds_the_reason() -> None:
    answer = await health_of(NOT_READY)

    assert answer.status == 500
    assert answer.text == (
        "[-]informer-sync failed: reason withheld\n[+]webhook-server ok\nreadyz check failed\n"
    )  # fmt: skip
    assert answer.problems == {"informer-sync": "informers not synced yet"}


async def test_an_excluded_check_is_not_asked() -> None:
    answer = await health_of(NOT_READY, excluded=["informer-sync", "typo"], verbose=True)

    assert answer.status == 200
    assert answer.text == (
        "[+]informer-sync excluded: ok\n"
        "[+]webhook-server ok\n"
        'warn: some health checks cannot be excluded: no matches for "typo"\n'
        "readyz check passed\n"
    )


async def test_an_endpoint_without_checks_asks_whether_anybody_answers() -> None:
    assert (await health_of(Endpoint("healthz", {}), verbose=True)).text == "[+]ping ok\nhealthz check passed\n"


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (says("informers not synced yet"), "informers not synced yet"),
        (broken, "connection refused"),
        (hung, "no answer within 5 s"),
    ],
    ids=["says so", "raises", "hangs"],
)
@virtual_time
async def test_a_check_asked_alone_tells_why_it_failed(check: Check, problem: str) -> None:
    answer = await health_of_one("check", check)

    assert (answer.status, answer.text) == (500, f"internal server error: {problem}\n")
    assert answer.problems == {"check": problem}


@virtual_time
async def test_checks_that_hang_are_waited_for_together() -> None:
    answer = await health_of(Endpoint("healthz", {"one": hung, "two": hung}))

    assert answer.status == 500
    assert asyncio.get_running_loop().time() == 5


class Upstream:
    """A check that counts how often it runs, and takes a while."""

    def __init__(self, seconds: float) -> None:
        self.runs = 0
        self.problem: str | None = None
        self._seconds = seconds

    async def __call__(self) -> str | None:
        self.runs += 1
        problem = self.problem
        await asyncio.sleep(self._seconds)
        return problem


@virtual_time
async def test_all_who_ask_while_a_check_runs_share_its_answer() -> None:
    upstream = Upstream(seconds=1.5)
    check = SharedCheck(upstream)

    answers = await asyncio.gather(*(check() for _ in range(150)))

    assert (set(answers), upstream.runs) == ({None}, 1)


@virtual_time
async def test_a_shared_check_runs_at_most_once_a_second() -> None:
    upstream, loop = Upstream(seconds=0.0), asyncio.get_running_loop()
    check = SharedCheck(upstream)

    while loop.time() < 10:
        await check()
        await asyncio.sleep(0.01)

    assert upstream.runs <= 10


@virtual_time
async def test_a_shared_answer_is_forgotten_after_a_second() -> None:
    upstream = Upstream(seconds=0.0)
    check = SharedCheck(upstream)
    assert await check() is None

    upstream.problem = "gone"
    assert await check() is None
    await asyncio.sleep(1)

    assert await check() == "gone"


@virtual_time
async def test_who_leaves_early_takes_the_answer_from_nobody() -> None:
    upstream = Upstream(seconds=1.5)
    check = SharedCheck(upstream)
    impatient, patient = asyncio.create_task(check()), asyncio.create_task(check())
    await asyncio.sleep(0.1)

    impatient.cancel()

    assert await patient is None
    assert upstream.runs == 1
