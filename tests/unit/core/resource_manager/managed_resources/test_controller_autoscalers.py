"""ManagedResources and autoscalers in a process of its own: their watches help, and hold nobody up."""

import asyncio
from typing import Any

import pytest

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.memory import MemoryTransport
from hedgerow_adapters.memory.faults import Answered, Fault
from hedgerow_adapters.memory.faults import requests as picks
from hedgerow_adapters.protocol.transport import Response
from tests.unit.adapters.runtime.world import Wire, about_objects, at_work
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    Harness,
    config_map,
    managed_resource,
    secret,
)
from tests.virtual_clock import virtual_time

METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


def hpa() -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3, "metrics": [METRIC]},
    }


def forbidden(plural: str) -> Fault:
    refusal = {"kind": "Status", "status": "Failure", "message": "not for you", "reason": "Forbidden", "code": 403}
    return Fault(picks("GET", plural), Answered(Response(403, refusal)), times=None)


@virtual_time
async def test_one_that_holds_an_autoscaler_settles_like_any_other() -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a"), hpa()]), managed_resource("secret"))
    wire = Wire(MemoryTransport(made.target))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig()), transport=wire):
        await asyncio.sleep(200)
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        asked = len(wire.asked)

        await asyncio.sleep(290)

        assert about_objects(wire.asked[asked:]) == []


@pytest.mark.parametrize(
    ("plural", "told"), [("horizontalpodautoscalers", "HPAs"), ("hvpas", "HVPAs")], ids=["HPAs", "HVPAs"]
)
@virtual_time
async def test_autoscalers_that_may_not_be_listed_are_told_and_keep_nothing_from_being_deleted(
    plural: str, told: str
) -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a")]), managed_resource("secret"))
    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())):
        await asyncio.sleep(20)
    assert made.get(CONFIG_MAPS, "a") is not None
    made.target.faults.append(forbidden(plural))

    async with at_work(made.target, managed_resource_controller(ManagedResourceConfig())):
        await asyncio.sleep(60)
        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.condition().message == f"failed to list all {told}: not for you"
        made.delete(MANAGED_RESOURCES, KEY.name)
        await asyncio.sleep(10)

    assert made.source.get(MANAGED_RESOURCES, KEY) is None
    assert made.get(CONFIG_MAPS, "a") is None
