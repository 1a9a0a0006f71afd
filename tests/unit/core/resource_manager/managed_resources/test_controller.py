"""The controller that applies ManagedResources, at work in a process of its own."""

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

from returns.result import Result, Success

from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES
from hedgerow_adapters.memory import MemoryTransport
from tests.unit.adapters.runtime.world import Ears, Wire, at_work
from tests.unit.core.resource_manager.managed_resources.workshop import (
    CONFIG_MAPS,
    KEY,
    Workshop,
    config_map,
    managed_resource,
    secret,
)
from tests.virtual_clock import virtual_time

PATIENCE = 4.0
"""Seconds, less than the time after which is looked again without any event."""


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 -- the in-memory cluster tells nobody
            await asyncio.sleep(0.01)


def landscape(count: int = 1) -> Workshop:
    made = Workshop()
    for number in range(count):
        made.put(secret(f"s{number}", objects=[config_map(f"a{number}")]))
        made.put(managed_resource(f"s{number}", name=KEY.name if number == 0 else f"mr{number}"))
    return made


def is_applied(made: Workshop) -> bool:
    found = made.managed_resource().get("status", {}).get("observedGeneration")
    return bool(found == made.managed_resource()["metadata"]["generation"])


@virtual_time
async def test_drift_is_reverted_without_waiting_for_the_period() -> None:
    made = landscape()
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())):
        await until(lambda: is_applied(made))
        await asyncio.sleep(1)
        made.patch(CONFIG_MAPS, "a0", {"data": {"k": "drift"}})

        await until(lambda: made.live(CONFIG_MAPS, "a0")["data"] == {"k": "v"})
        made.delete(CONFIG_MAPS, "a0")
        await until(lambda: made.get(CONFIG_MAPS, "a0") is not None)


@virtual_time
async def test_what_is_settled_is_neither_read_nor_written_for_as_long_as_nothing_changes() -> None:
    made, ears = landscape(20), Ears()
    wire = Wire(MemoryTransport(made.target))
    controller = managed_resource_controller(ManagedResourceConfig())
    async with at_work(made.target, controller, transport=wire, observer=ears):
        await asyncio.sleep(100)
        asked, turns = len(wire.asked), len(ears.results)

        await asyncio.sleep(290)

        of_objects = [request for request in wire.asked[asked:] if "watch" not in request.query]
        assert len(ears.results) > turns, "it was looked at again and again"
        assert not [request.path for request in of_objects if "limit" not in request.query]
    assert not ears.troubles


@virtual_time
async def test_a_secret_that_changes_is_applied_and_a_managed_resource_goes_at_once() -> None:
    made = landscape()
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())):
        await until(lambda: is_applied(made))
        made.put(secret("s0", objects=[config_map("b")]))
        await until(lambda: made.get(CONFIG_MAPS, "b") is not None)
        assert made.get(CONFIG_MAPS, "a0") is None
        made.delete(MANAGED_RESOURCES, KEY.name)
        await until(lambda: made.source.get(MANAGED_RESOURCES, KEY) is None)
        assert made.get(CONFIG_MAPS, "b") is None


@virtual_time
async def test_deletions_that_hang_write_nothing_as_long_as_nothing_changes() -> None:
    made = Workshop()
    held = [config_map(f"a{number}", finalizers=["example.com/held"]) for number in range(20)]
    made.put(secret(objects=held), managed_resource("secret"))
    wire = Wire(MemoryTransport(made.target))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), transport=wire):
        await until(lambda: is_applied(made))
        made.delete(MANAGED_RESOURCES, KEY.name)
        await asyncio.sleep(10)
        writes = wire.writes

        await asyncio.sleep(300)

        assert wire.writes == writes


def test_a_secret_is_decoded_once_in_a_turn() -> None:
    decompressed = []

    def decompress(compressed: bytes, _most: int) -> Result[bytes, str]:
        decompressed.append(compressed)
        return Success(json.dumps(config_map("a")).encode())

    made = Workshop(ManagedResourceConfig(decompress=decompress))
    made.put(managed_resource("secret"))
    manifest: dict[str, Any] = {**secret(), "data": {"a.br": base64.b64encode(b"?").decode()}}
    made.put(manifest)

    assert made.turn().stages > 2

    assert decompressed == [b"?"]
