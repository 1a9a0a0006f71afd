"""The answers to whether a process is healthy or ready."""

import asyncio

import pytest

from hedgerow_adapters.probes.health import Check, Endpoint, health_of, health_of_one, ping
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
