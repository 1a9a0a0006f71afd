"""The controller that applies ManagedResources, at work in a process of its own."""

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from returns.result import Result, Success
from typing_extensions import override

from hedgerow.api.kubernetes import EVENTS as RECORDED
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.kubernetes.discovery import CHECKED_EVERY
from hedgerow_adapters.kubernetes.pacing import Throttle
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, TransportError
from hedgerow_adapters.runtime.clusters import Access
from hedgerow_adapters.runtime.write_conflicts import BESIDE_WAIT
from tests.unit.adapters.runtime.world import Ears, Wire, about_objects, at_work
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    NAMESPACES,
    Harness,
    config_map,
    managed_resource,
    secret,
)
from tests.virtual_clock import virtual_time

DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
PATIENCE = 4.0
"""Seconds, less than the time after which is looked again without any event."""


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 -- the in-memory cluster tells nobody
            await asyncio.sleep(0.01)


def landscape(count: int = 1) -> Harness:
    made = Harness()
    for number in range(count):
        made.put(secret(f"s{number}", objects=[config_map(f"a{number}")]))
        made.put(managed_resource(f"s{number}", name=KEY.name if number == 0 else f"mr{number}"))
    return made


def is_applied(made: Harness) -> bool:
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

        assert len(ears.results) > turns, "it was looked at again and again"
        assert about_objects(wire.asked[asked:]) == []
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
    made = Harness()
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


@virtual_time
async def test_two_that_want_one_object_each_take_it_back_from_time_to_time_and_are_told_of_each_other() -> None:
    made, ears = Harness(), Ears()
    for name, text in (("mine", "m"), ("theirs", "t")):
        made.put(secret(name, objects=[config_map("a", {"k": text})]), managed_resource(name, name=name))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), observer=ears):
        await asyncio.sleep(700)

        taken = [each for each in ears.actions if each.resource == CONFIG_MAPS]
        assert 4 <= len(taken) <= 13, "one of them, once in a minute"
        events = made.target.objects(RECORDED)
        told = {(each["regarding"]["name"], each["reason"]): each["note"] for each in events}

    wanted = 'wanted by other ManagedResources as well: "/ConfigMap/default/a" by default/'
    assert told["mine", "ContestedResources"] == f"{wanted}theirs"
    assert told["theirs", "ContestedResources"] == f"{wanted}mine"
    assert {name for name, reason in told if reason == "WriteConflict"} == {"mine", "theirs"}


class Throttled(MemoryTransport):
    """Sends a few requests a second."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        super().__init__(cluster)
        self._throttle = Throttle(5, 10)

    @override
    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        if not await self._throttle.has_turn(timeout):
            raise TransportError(f"would wait behind other requests for more than {timeout:g} s")
        return await super().send(request, timeout=timeout, may_send=may_send)


@virtual_time
async def test_a_restart_of_a_throttled_process_is_no_trouble_of_anybody() -> None:
    made, seen = Harness(), set()
    names = [f"mr{number}" for number in range(8)]
    for name in names:
        objects = [config_map(f"{name}-{number}") for number in range(40)]
        made.put(secret(name, objects=objects), managed_resource(name, name=name))
        made.turn(ObjectKey(KEY.namespace, name))
    wire, ears = Throttled(made.target), Ears()
    controller = managed_resource_controller(ManagedResourceConfig())
    async with at_work(made.target, controller, transport=wire, observer=ears):
        for _ in range(600):
            await asyncio.sleep(1)
            seen |= {made.said(ObjectKey(KEY.namespace, name))["ResourcesApplied"] for name in names}

    assert seen == {"True/ApplySucceeded"}
    assert {key.name for key, _ in ears.results} == set(names)
    assert not ears.troubles


@virtual_time
async def test_a_fight_over_one_object_does_not_keep_the_others_waiting() -> None:
    made, ears = Harness(), Ears()
    made.put(secret(objects=[config_map("a"), config_map("b")]), managed_resource("secret"))

    async def undo() -> None:
        while True:
            await asyncio.sleep(0.5)
            if (made.get(CONFIG_MAPS, "a") or {}).get("data") == {"k": "v"}:
                made.patch(CONFIG_MAPS, "a", {"data": {"k": "theirs"}})

    async def until_held() -> None:
        corrections = len(ears.actions)
        while len(ears.actions) == corrections:  # noqa: ASYNC110 -- the in-memory cluster tells nobody
            await asyncio.sleep(1)

    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), observer=ears):
        opponent = asyncio.create_task(undo())
        await asyncio.sleep(1500)
        await until_held()
        made.put(secret(objects=[config_map("a"), config_map("b", {"k": "new"})]))
        await until(lambda: made.live(CONFIG_MAPS, "b")["data"] == {"k": "new"})
        await until_held()
        made.delete(CONFIG_MAPS, "b")
        await asyncio.sleep(BESIDE_WAIT + 1)
        assert made.get(CONFIG_MAPS, "b") is not None
        opponent.cancel()


class Stale(MemoryTransport):
    """Refuses every update of a ConfigMap as a conflict, and tells when there was one."""

    def __init__(self, cluster: InMemoryCluster) -> None:
        super().__init__(cluster)
        self.refused: list[float] = []

    @override
    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        if request.method == "PUT" and "/configmaps/" in request.path and isinstance(request.body, dict):
            self.refused.append(asyncio.get_running_loop().time())
            metadata = {**request.body["metadata"], "resourceVersion": "1"}
            request = replace(request, body={**request.body, "metadata": metadata})
        return await super().send(request, timeout=timeout, may_send=may_send)


@virtual_time
async def test_however_many_writes_conflict_drift_is_corrected_in_every_sync_period() -> None:
    made = landscape()
    made.turn()
    made.patch(CONFIG_MAPS, "a0", {"data": {"k": "drift"}})
    stale = Stale(made.target)
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), transport=stale):
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(7200)
        moments = [began, *stale.refused, asyncio.get_running_loop().time()]

    assert max(later - earlier for earlier, later in pairwise(moments)) <= 61


@virtual_time
async def test_however_often_somebody_undoes_it_drift_is_corrected_in_every_sync_period() -> None:
    made, ears = landscape(), Ears()
    made.turn()
    corrected: list[float] = []

    def undo(change: Change) -> None:
        if change.new is not None and change.new["data"] == {"k": "v"}:
            loop = asyncio.get_running_loop()
            corrected.append(loop.time())
            loop.call_later(0.1, made.patch, CONFIG_MAPS, "a0", {"data": {"k": "theirs"}})

    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), observer=ears):
        began = asyncio.get_running_loop().time()
        made.target.subscribe(CONFIG_MAPS, undo)
        made.patch(CONFIG_MAPS, "a0", {"data": {"k": "theirs"}})
        await asyncio.sleep(7200)
        moments = [began, *corrected, asyncio.get_running_loop().time()]

    assert max(later - earlier for earlier, later in pairwise(moments)) <= 61
    assert len(ears.conflicts) == 1
    assert len(corrected) <= 7200 / 60 + 7, "no more often either, once it is a conflict"


@virtual_time
async def test_an_object_out_of_sight_is_applied_repaired_from_time_to_time_and_deleted() -> None:
    made = Harness()
    made.target.handle(requests.create(NAMESPACES, {"metadata": {"name": "other"}}, ""))
    made.put(secret(objects=[config_map("a"), config_map("b", namespace="other")]), managed_resource("secret"))
    made.put(config_map("b", {"k": "old"}, namespace="other"))
    whole = Access(MemoryTransport(made.target))
    controller = managed_resource_controller(ManagedResourceConfig())
    async with at_work(made.target, controller, namespaces=("default",), source=whole):
        await until(lambda: is_applied(made))
        made.patch(CONFIG_MAPS, "b", {"data": {"k": "drift"}}, "other")
        await asyncio.sleep(200)
        assert made.live(CONFIG_MAPS, "b", "other")["data"] == {"k": "v"}
        made.delete(MANAGED_RESOURCES, KEY.name)
        await until(lambda: made.source.get(MANAGED_RESOURCES, KEY) is None)

    assert made.get(CONFIG_MAPS, "b", "other") is None


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"secretRefs": [5]}, {}),
        ({}, {"resources": ["x"]}),
        ({}, {"resources": {"a": 1}}),
        ({}, {"resources": [{"apiVersion": "v1", "kind": "ConfigMap", "name": 5}]}),
    ],
)
@virtual_time
async def test_one_that_cannot_be_read_keeps_no_other_from_being_applied(
    spec: dict[str, Any], status: dict[str, Any]
) -> None:
    made = landscape()
    odd = managed_resource("s1", name="odd", **spec)
    made.put(odd)
    key = ObjectKey(KEY.namespace, "odd")
    stored = made.managed_resource(key)
    made.source.handle(requests.update(MANAGED_RESOURCES, key, {**stored, "status": status}, "status"))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())) as runner:
        await until(lambda: is_applied(made))
        assert runner.synced.is_set()


@virtual_time
async def test_what_is_followed_is_kept_as_it_is_declared() -> None:
    controller = managed_resource_controller(ManagedResourceConfig())
    watches = [
        replace(each, transform=dict) if each.resource == HORIZONTAL_POD_AUTOSCALERS else each
        for each in controller.watches
    ]
    made = landscape()

    with pytest.raises(ValueError, match="is watched and followed, and not the same is kept of it"):
        async with at_work(made.target, replace(controller, watches=tuple(watches))):
            pass


@virtual_time
async def test_a_definition_that_is_replaced_by_one_of_another_scope_is_noticed_by_the_refusal() -> None:
    made = Harness()

    def define(scope: str) -> None:
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        names = {"kind": "Foo", "plural": "foos", "singular": "foo", "listKind": "FooList"}
        spec = {"group": "ex.io", "scope": scope, "names": names, "versions": [version]}
        definition = {"metadata": {"name": "foos.ex.io"}, "spec": spec}
        assert made.target.handle(requests.create(DEFINITIONS, definition)).is_success

    define("Namespaced")
    foo = {"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "f", "namespace": "default"}}
    made.put(secret(objects=[foo]), managed_resource("secret"))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())):
        await until(lambda: is_applied(made))
        made.target.handle(requests.delete(DEFINITIONS, ObjectKey("", "foos.ex.io")))
        define("Cluster")
        await asyncio.sleep(CHECKED_EVERY / 2)

        foos = Resource("ex.io", "v1", "foos", "Foo", namespaced=False)
        assert made.target.get(foos, ObjectKey("", "f")) is not None


def test_a_secret_is_decoded_once_in_a_turn() -> None:
    decompressed = []

    def decompress(compressed: bytes) -> Iterator[Result[bytes, str]]:
        decompressed.append(compressed)
        yield Success(json.dumps(config_map("a")).encode())

    made = Harness(ManagedResourceConfig(decompress=decompress))
    made.put(managed_resource("secret"))
    manifest: dict[str, Any] = {**secret(), "data": {"a.br": base64.b64encode(b"?").decode()}}
    made.put(manifest)

    assert made.turn().waits > 2

    assert decompressed == [b"?"]
