"""Workloads and what belongs to them: how they are completed, counted, scaled and refused."""

from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import causes, key
from tests.contract.targets import MemoryTarget, Send, ServerTarget
from tests.contract.workloads import (
    AUTOSCALERS,
    AUTOSCALERS_V1,
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    PODS,
    STATEFUL_SETS,
    autoscaler,
    endpoint_slice,
    pod,
    workload,
)
from tests.control_plane import ControlPlane

TIDY = {"name": "cart", "image": "example.com/cart", "imagePullPolicy": "Never", "ports": [{"containerPort": 80}]}


@pytest.mark.parametrize(
    ("resource", "manifest"),
    [
        (DEPLOYMENTS, workload()),
        (DEPLOYMENTS, workload(replicas=0, strategy={"type": "Recreate"})),
        (DEPLOYMENTS, workload(strategy={"rollingUpdate": {"maxSurge": 1}})),
        (STATEFUL_SETS, workload("StatefulSet", serviceName="cart")),
        (STATEFUL_SETS, workload("StatefulSet", serviceName="cart", updateStrategy={"type": "OnDelete"})),
        (DAEMON_SETS, workload("DaemonSet")),
        (DAEMON_SETS, workload("DaemonSet", updateStrategy={"type": "OnDelete"})),
        (AUTOSCALERS, autoscaler()),
        (AUTOSCALERS_V1, autoscaler("v1")),
        (ENDPOINT_SLICES, endpoint_slice()),
        (ENDPOINT_SLICES, endpoint_slice(ports=None, endpoints=[])),
        (PODS, pod()),
        (PODS, pod(containers=[TIDY], schedulerName="mine", tolerations=[{"operator": "Exists"}])),
    ],
)
def test_a_new_object_is_completed_in_the_same_way_on_both(
    contract_server: ControlPlane, resource: Resource, manifest: Any
) -> None:
    bodies = []
    for target in (MemoryTarget(), ServerTarget(contract_server)):
        created = target.send(requests.create(resource, manifest, "default"))
        assert created.status == 201, created.body
        target.send(requests.delete(resource, key("default", "cart")))
        bodies.append(without_times(created.body))

    assert bodies[0] == bodies[1]


def without_times(body: Any) -> Any:
    """An object without what differs from server to server, and without what nobody looks at of it."""
    body = {**body, "metadata": dict(body["metadata"])}
    body.get("status", {}).pop("qosClass", None)
    if body["kind"] == "DaemonSet":
        body["metadata"].pop("annotations", None)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        del body["metadata"][name]
    return body


@pytest.mark.parametrize(
    ("resource", "manifest", "expected"),
    [
        (DEPLOYMENTS, workload(replicas=-1), [("FieldValueInvalid", "spec.replicas")]),
        (STATEFUL_SETS, workload("StatefulSet", replicas=-1), [("FieldValueInvalid", "spec.replicas")]),
        (
            DAEMON_SETS,
            workload("DaemonSet", selector={"matchLabels": {"app": "x"}}),
            [("FieldValueInvalid", "spec.template.metadata.labels")],
        ),
        (
            DEPLOYMENTS,
            workload(selector={"matchLabels": {"app": "x"}}),
            [("FieldValueInvalid", "spec.template.metadata.labels")],
        ),
        (
            AUTOSCALERS,
            autoscaler(maxReplicas=0),
            [("FieldValueRequired", "spec.maxReplicas"), ("FieldValueInvalid", "spec.maxReplicas")],
        ),
        (
            AUTOSCALERS,
            autoscaler(minReplicas=0),
            [("FieldValueInvalid", "spec.minReplicas"), ("FieldValueForbidden", "spec.metrics")],
        ),
        (AUTOSCALERS_V1, autoscaler("v1", minReplicas=4), [("FieldValueInvalid", "spec.maxReplicas")]),
        (ENDPOINT_SLICES, endpoint_slice(addressType=""), [("FieldValueRequired", "addressType")]),
    ],
)
def test_what_webhooks_might_break_is_checked(
    send: Send, namespace: str, resource: Resource, manifest: Any, expected: Any
) -> None:
    assert causes(send(requests.create(resource, manifest, namespace))) == expected


@pytest.mark.parametrize(
    ("resource", "make", "change"),
    [
        (DEPLOYMENTS, workload, {"metadata": {"annotations": {"a": "b"}}}),
        (DEPLOYMENTS, workload, {"metadata": {"labels": {"a": "b"}}}),
        (DEPLOYMENTS, workload, {"spec": {"replicas": 5}}),
        (STATEFUL_SETS, lambda: workload("StatefulSet"), {"metadata": {"annotations": {"a": "b"}}}),
        (STATEFUL_SETS, lambda: workload("StatefulSet"), {"spec": {"replicas": 5}}),
        (DAEMON_SETS, lambda: workload("DaemonSet"), {"spec": {"minReadySeconds": 5}}),
        (AUTOSCALERS, autoscaler, {"spec": {"maxReplicas": 5}}),
        (ENDPOINT_SLICES, endpoint_slice, {"metadata": {"labels": {"a": "b"}}}),
        (ENDPOINT_SLICES, endpoint_slice, {"ports": []}),
        (DEPLOYMENTS, workload, {"status": {"replicas": 5}}),
    ],
)
def test_changes_are_counted_in_the_same_way_on_both(
    contract_server: ControlPlane, resource: Resource, make: Callable[[], Any], change: Any
) -> None:
    counted = []
    for target in (MemoryTarget(), ServerTarget(contract_server)):
        target.send(requests.create(resource, make(), "default"))
        patched = target.send(requests.merge_patch(resource, key("default", "cart"), change))
        target.send(requests.delete(resource, key("default", "cart")))
        assert patched.status == 200, patched.body
        counted.append((patched.body["metadata"].get("generation"), patched.body.get("status")))

    assert counted[0] == counted[1]


def test_replicas_can_be_read_and_written_alone(send: Send, namespace: str) -> None:
    created = send(requests.create(DEPLOYMENTS, workload(replicas=2), namespace)).body
    cart = key(namespace, "cart")
    path = requests.object_path(DEPLOYMENTS, cart, "scale")

    scale = send(Request("GET", path)).body
    scaled = send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"replicas": 0}}, subresource="scale"))
    stale = send(requests.update(DEPLOYMENTS, cart, {**scale, "spec": {"replicas": 7}}, "scale"))
    put = send(requests.update(DEPLOYMENTS, cart, {**scaled.body, "spec": {"replicas": 4}}, "scale"))
    invalid = send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"replicas": -1}}, subresource="scale"))

    metadata = {name: created["metadata"][name] for name in ("uid", "resourceVersion", "creationTimestamp")}
    assert scale == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "cart", "namespace": namespace, **metadata},
        "spec": {"replicas": 2},
        "status": {"replicas": 0, "selector": "app=cart"},
    }
    assert (scaled.status, scaled.body["spec"]) == (200, {})
    assert stale.status == 409
    assert (put.status, put.body["spec"]) == (200, {"replicas": 4})
    assert causes(invalid) == [("FieldValueInvalid", "spec.replicas")]
    stored = send(requests.get(DEPLOYMENTS, cart)).body
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (4, 3)


def test_both_versions_of_an_autoscaler_show_the_same_object(send: Send, namespace: str) -> None:
    cart = key(namespace, "cart")
    send(requests.create(AUTOSCALERS_V1, autoscaler("v1", targetCPUUtilizationPercentage=50), namespace))

    newer = send(requests.get(AUTOSCALERS, cart)).body
    send(requests.merge_patch(AUTOSCALERS, cart, {"spec": {"maxReplicas": 9}}))
    older = send(requests.get(AUTOSCALERS_V1, cart)).body

    target = {"type": "Utilization", "averageUtilization": 50}
    assert newer["apiVersion"] == "autoscaling/v2"
    assert newer["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert older["apiVersion"] == "autoscaling/v1"
    assert (older["spec"]["maxReplicas"], older["spec"]["targetCPUUtilizationPercentage"]) == (9, 50)
