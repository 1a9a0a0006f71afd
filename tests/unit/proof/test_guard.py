"""Mistakes of the night that look like "everything is to go": the process refuses, says so, and deletes nothing."""

import asyncio
import io
import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.memory import Answered, Fault
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.telemetry.controller import ControllerTelemetry
from hedgerow_adapters.telemetry.logs import configure_logs
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from tests.unit.adapters.runtime.world import CONTROLLER, POLICIES, World, at_work, shops
from tests.unit.proof.network import Network
from tests.virtual_clock import run

MANY: Final = 20
NOTHING_SELECTED: Final = network_policy_controller(NetworkPolicyConfig((LabelSelector((("no", "such"),)),)))
"""A configuration whose selector has a typing error."""


def settled(count: int = MANY) -> World:
    world = World(*shops(count))

    async def work() -> None:
        async with at_work(world):
            await asyncio.sleep(60)

    run(work())
    assert len(world.policies) == 2 * count
    return world


def no_service_is_listed() -> World:
    """The API server answers with a list that is empty, and goes on doing so."""
    world = settled()
    body = {"kind": "ServiceList", "metadata": {"resourceVersion": world.resource_version}, "items": []}
    empty = Answered(Response(200, body))
    world.faults.append(
        Fault(lambda request: request.path == "/api/v1/services" and "watch" not in request.query, empty, times=None)
    )
    return world


def another_cluster() -> World:
    """Where policies of the same origin exist, but none of the Services."""
    world = World()
    for policy in settled().objects(POLICIES):
        metadata = {name: policy["metadata"][name] for name in ("name", "namespace", "labels", "annotations")}
        world.create(POLICIES, {"metadata": metadata, "spec": policy["spec"]})
    return world


@pytest.fixture
def lines() -> io.StringIO:
    """What is written to the log."""
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    return stream


@pytest.mark.parametrize(
    ("world", "controller"),
    [(no_service_is_listed, CONTROLLER), (settled, NOTHING_SELECTED), (another_cluster, CONTROLLER)],
    ids=["an empty list", "a selector that selects nothing", "the kubeconfig of another cluster"],
)
def test_what_looks_like_everything_is_to_go_is_refused_and_told(
    world: Callable[[], World], controller: Controller[Any], lines: io.StringIO
) -> None:
    cluster = world()
    before = cluster.contents
    metrics = RuntimeMetrics()

    async def an_hour() -> Network:
        network = Network(cluster)
        telemetry = ControllerTelemetry(controller, metrics)
        async with at_work(cluster, controller, transport=network, observer=telemetry):
            await asyncio.sleep(3600)
        return network

    network = run(an_hour())

    assert network.writes == []
    assert cluster.contents == before
    owned = 2 * MANY
    notes = {(reason, note.partition(";")[0]) for _, reason, note in cluster.recorded}
    assert notes == {("DeletionsHeld", f"deletions are held back: {owned} of {owned} owned objects would be deleted")}
    told = [line for line in map(json.loads, lines.getvalue().splitlines()) if "Held deletions back" in line.values()]
    assert [line["level"] for line in told] == ["error"] * len(told) != []
