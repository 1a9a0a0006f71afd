"""How long ManagedResources are waited for, and what is told when they do not come."""

import asyncio
from collections.abc import Mapping
from functools import partial

import pytest
from returns.result import Failure, Success

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.builder import (
    wait_for_all,
    wait_until_deleted,
    wait_until_healthy,
    wait_until_healthy_and_not_progressing,
)
from hedgerow_adapters.builder.managed_resource import Wait
from hedgerow_adapters.protocol import requests
from tests.unit.adapters.builder.garden import APP, NAMESPACE, Garden, Wire, managed_resource, problem
from tests.virtual_clock import virtual_time

Conditions = Mapping[str, tuple[str, str, str]]
ROLLING: Conditions = dict.fromkeys(("Applied", "Healthy", "Progressing"), ("True", "Reason", "x"))
DONE: Conditions = {**ROLLING, "Progressing": ("False", "Reason", "x")}
UNHEALTHY: Conditions = {**DONE, "Healthy": ("False", "Reason", "x")}
NOT_HEALTHY = "managed resource shop/app is not healthy"
HELD_UP = "v1/Pod shop/web still exists"
PENDING: Conditions = {"Applied": ("Progressing", "DeletionPending", HELD_UP)}
FINALIZER = {"metadata": {"finalizers": ["example.org/hold"]}}


def now() -> float:
    return asyncio.get_running_loop().time()


def garden_with(conditions: Conditions) -> Garden:
    garden = Garden()
    garden.managed_resource(managed_resource())
    garden.report(APP, conditions)
    return garden


@pytest.mark.parametrize(
    ("wait", "before", "after"),
    [
        (wait_until_healthy, UNHEALTHY, ROLLING),
        (wait_until_healthy_and_not_progressing, UNHEALTHY, DONE),
        (wait_until_healthy_and_not_progressing, ROLLING, DONE),
    ],
)
@virtual_time
async def test_a_look_every_two_seconds_ends_when_all_is_well(
    wait: Wait, before: Conditions, after: Conditions
) -> None:
    garden = garden_with(before)
    asyncio.get_running_loop().call_later(5, partial(garden.report, APP, after))
    wire = Wire(garden)

    assert await wait(wire, APP, deadline=60) == Success(None)
    assert wire.moments == [0, 2, 4, 6]
    assert set(wire.sent) == {"GET managedresources/app"}


@pytest.mark.parametrize(
    ("wait", "conditions", "text"),
    [
        (wait_until_healthy, UNHEALTHY, NOT_HEALTHY),
        (wait_until_healthy, {}, NOT_HEALTHY),
        (wait_until_healthy_and_not_progressing, UNHEALTHY, NOT_HEALTHY),
        (wait_until_healthy_and_not_progressing, ROLLING, "managed resource shop/app is still progressing"),
        (wait_until_deleted, DONE, "resource shop/app still exists"),
        (
            wait_until_deleted,
            PENDING,
            f"error while waiting for all resources to be deleted: resource shop/app still exists:\n{HELD_UP}",
        ),
    ],
)
@virtual_time
async def test_at_the_deadline_it_is_told_why_it_was_waited_on(wait: Wait, conditions: Conditions, text: str) -> None:
    wire = Wire(garden_with(conditions))

    late = (await wait(wire, APP, deadline=5)).failure()

    assert (late.message, late.error, late.retryable) == (text, None, True)
    assert (now(), wire.moments) == (5, [0, 2, 4])


@pytest.mark.parametrize("wait", [wait_until_healthy, wait_until_healthy_and_not_progressing, wait_until_deleted])
@virtual_time
async def test_a_look_that_is_refused_or_lost_ends_the_wait(wait: Wait) -> None:
    garden = garden_with(UNHEALTHY)
    garden.refuse("GET", "managedresources", "no")
    garden.lose("GET", "managedresources")

    assert [problem(await wait(Wire(garden), APP, deadline=60)) for _ in range(2)] == ["no", "connection lost"]
    assert now() == 0


@virtual_time
async def test_a_managed_resource_that_does_not_exist_is_never_healthy() -> None:
    waited = await wait_until_healthy(Wire(Garden()), APP, deadline=60)

    assert problem(waited) == 'managedresources.resources.gardener.cloud "app" not found'


@virtual_time
async def test_a_deletion_is_waited_for_until_the_last_finalizer_is_gone() -> None:
    garden = garden_with(DONE)
    garden.insist(requests.merge_patch(MANAGED_RESOURCES, APP, FINALIZER))
    garden.insist(requests.delete(MANAGED_RESOURCES, APP))
    released = requests.merge_patch(MANAGED_RESOURCES, APP, {"metadata": {"finalizers": None}})
    asyncio.get_running_loop().call_later(3, partial(garden.insist, released))
    wire = Wire(garden)

    assert await wait_until_deleted(wire, APP, deadline=60) == Success(None)
    assert wire.moments == [0, 2, 4]


@virtual_time
async def test_a_server_that_hangs_does_not_outlast_the_deadline() -> None:
    garden = garden_with(DONE)
    garden.lose("GET", "managedresources", hangs=True)

    waited = await wait_until_healthy(Wire(garden), APP, deadline=7)

    assert problem(waited) == "managed resource shop/app could not be read in time"
    assert now() == 7


@pytest.mark.parametrize("wait", [wait_until_healthy, wait_until_healthy_and_not_progressing, wait_until_deleted])
@virtual_time
async def test_a_wait_that_is_cancelled_is_no_wait_that_came_to_an_end(wait: Wait) -> None:
    wire = Wire(garden_with(UNHEALTHY))
    one = asyncio.create_task(wait(wire, APP, deadline=60))
    several = asyncio.create_task(wait_for_all(wait, wire, [APP, APP], deadline=60))
    await asyncio.sleep(3)

    for waiting in (one, several):
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    await asyncio.sleep(10)
    assert wire.moments == [0, 0, 0, 2, 2, 2]


@virtual_time
async def test_all_are_waited_for_at_once_and_every_one_that_does_not_come_is_told() -> None:
    garden = garden_with(UNHEALTHY)
    well, missing = (ObjectKey(NAMESPACE, name) for name in ("well", "missing"))
    garden.managed_resource(managed_resource(name="well"))
    asyncio.get_running_loop().call_later(1, partial(garden.report, well, DONE))

    waited = await wait_for_all(wait_until_healthy, Wire(garden), [APP, well, missing], deadline=5)

    assert [str(each) for each in waited.failure()] == [
        NOT_HEALTHY,
        'managedresources.resources.gardener.cloud "missing" not found',
    ]
    assert now() == 5
    assert await wait_for_all(wait_until_healthy, Wire(garden), [well], deadline=9) == Success(None)
    assert isinstance(waited, Failure)
