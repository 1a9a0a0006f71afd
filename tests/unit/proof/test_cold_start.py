"""A process that has thousands of Services to look at, and people who do not wait."""

import asyncio
from typing import Final

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.runner import keys_under_way
from tests.unit.adapters.runtime.world import (
    CONTROLLER,
    POLICIES,
    SCRAPED,
    SERVICES,
    World,
    at_work,
    own_policies,
    service,
    shops,
)
from tests.unit.proof.network import Network
from tests.virtual_clock import virtual_time

MANY: Final = 1000
VISIBLE_WITHIN: Final = 0.5
LATENCY: Final = 0.075
BUSY_FOR: Final = MANY / keys_under_way(CONTROLLER) * LATENCY
"""Seconds that the policies of all take; both of a Service are sent at once."""


def exist(world: World, policies: set[str]) -> bool:
    return all(world.get(POLICIES, ObjectKey(*policy.split("/"))) is not None for policy in policies)


@virtual_time
async def test_a_live_change_during_a_cold_start_of_a_thousand_services_does_not_wait_in_line() -> None:
    world, loop = World(*shops(MANY)), asyncio.get_running_loop()
    late = ObjectKey("shop", f"svc-{MANY - 1}")
    scraped = {f"shop/ingress-to-{late.name}-tcp-8080-via-all-scrape-targets"}

    async with at_work(world, transport=Network(world, latency=LATENCY)) as runner:
        await runner.synced.wait()
        began = loop.time()
        for number in range(4):
            await asyncio.sleep(BUSY_FOR / 12)
            new = ObjectKey("shop", f"new-{number}")
            world.create(SERVICES, service(new))
            if number == 1:
                world.annotate(late, SCRAPED)
            await asyncio.sleep(VISIBLE_WITHIN)
            assert exist(world, own_policies(new.name))
            assert number == 0 or exist(world, scraped), "one that already stood in line went ahead"
        assert loop.time() - began < BUSY_FOR
        assert MANY / 2 < len(world.objects(POLICIES)) < 2 * MANY, "the others got their turns, and not yet all of them"
