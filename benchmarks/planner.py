"""How many policies a second the decision makes, without any I/O."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from benchmarks.figures import Figure
from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import NAMESPACE_SELECTORS
from hedgerow.machinery.controller import plans
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import Create
from hedgerow.resource_manager.network_policies import (
    NetworkPolicyConfig,
    desired_network_policies,
    network_policy_controller,
)
from tests.snapshots import snapshot_over

SERVICE_COUNT = 1000
NAMESPACE_COUNT = 50
RUNS = 9


def measure() -> Iterator[Figure]:
    """Policies per second of the typed function and of whole reconciliations, collector off and on."""
    for label, switch, goal in (("off", gc.disable, 100_000), ("on", gc.enable, 60_000)):
        switch()
        what = "desired_network_policies, collector"
        yield Figure.at_least(f"{what} {label}", _rate(_desired), "policies/s", goal)
        yield Figure(f"reconcile from cold, collector {label}", _rate(_cold), "policies/s")
        yield Figure(f"reconcile settled, collector {label}", _rate(_settled), "policies/s")


def _rate(work: Callable[[], float]) -> float:
    return statistics.median(work() for _ in range(RUNS))


def namespaces() -> list[dict[str, Any]]:
    """Namespaces of two teams."""
    return [
        {"metadata": {"name": f"ns-{number}", "labels": {"team": "ab"[number % 2]}}}
        for number in range(NAMESPACE_COUNT)
    ]


def services() -> list[dict[str, Any]]:
    """Services with one port each, a tenth of them open to the pods of one team's namespaces."""
    return [_service(number) for number in range(SERVICE_COUNT)]


def _service(number: int) -> dict[str, Any]:
    annotations = {} if number % 10 else {NAMESPACE_SELECTORS: '[{"matchLabels":{"team":"a"}}]'}
    return {
        "metadata": {
            "name": f"svc-{number}",
            "namespace": f"ns-{number % NAMESPACE_COUNT}",
            "annotations": annotations,
        },
        "spec": {"selector": {"app": f"app-{number}"}, "ports": [{"protocol": "TCP", "port": 80, "targetPort": 8080}]},
    }


def _desired() -> float:
    all_services, all_namespaces = services(), namespaces()
    began = time.perf_counter()
    count = sum(len(desired_network_policies(service, all_namespaces).unwrap().policies) for service in all_services)
    return count / (time.perf_counter() - began)


CONTROLLER = network_policy_controller(NetworkPolicyConfig())


def _cold() -> float:
    snapshot = snapshot_over(CONTROLLER, {SERVICES: services(), NAMESPACES: namespaces()})
    began = time.perf_counter()
    count = sum(len(plan.actions) for _, plan in plans(CONTROLLER, snapshot, datetime.now(UTC)))
    return count / (time.perf_counter() - began)


def _settled() -> float:
    snapshot = snapshot_over(CONTROLLER, {SERVICES: services(), NAMESPACES: namespaces()})
    policies = [
        action.manifest
        for _, plan in plans(CONTROLLER, snapshot, datetime.now(UTC))
        for action in plan.actions
        if isinstance(action, Create)
    ]
    world: dict[Resource, list[Any]] = {SERVICES: services(), NAMESPACES: namespaces(), NETWORK_POLICIES: policies}
    snapshot = snapshot_over(CONTROLLER, world)
    began = time.perf_counter()
    writes = sum(len(plan.actions) for _, plan in plans(CONTROLLER, snapshot, datetime.now(UTC)))
    if writes:
        raise AssertionError(f"a settled world asks for {writes} writes")
    return len(policies) / (time.perf_counter() - began)
