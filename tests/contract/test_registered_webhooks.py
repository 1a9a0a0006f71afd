"""All webhooks behind their real registration objects: what they make of objects is the same on both."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig, SystemComponentsConfig
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.api.tokens import INVALIDATED
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from tests.contract.objects import NAMESPACES, SECRETS
from tests.contract.targets import MemoryTarget, ServerTarget, Target
from tests.contract.test_workloads import without_times
from tests.contract.webhook_bench import Bench
from tests.contract.webhook_server import ServingPair
from tests.contract.workloads import (
    AUTOSCALERS,
    AUTOSCALERS_V1,
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

CONFIG = AdmissionConfig(
    crd_deletion_protection=True,
    endpoint_slice_hints=True,
    extension_validation=True,
    high_availability_config=HighAvailabilityConfig(60, 60),
    kubernetes_service_host="api.example.com",
    pod_scheduler_name="bin-packing-scheduler",
    pod_topology_spread_constraints=True,
    projected_token_mount=43200,
    seccomp_profile=True,
    system_components_config=SystemComponentsConfig(
        pod_node_selector={"role": "system"}, pod_tolerations=({"key": "system", "operator": "Exists"},)
    ),
    token_invalidator=True,
)
HA = "high-availability-config.resources.gardener.cloud"
SERVER = {f"{HA}/type": "server"}
TRUE = {"endpoint-slice-hints.resources.gardener.cloud/consider": "true"}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
SPREAD_BY_HASH = {**SPREAD, "labelSelector": {"matchLabels": {"app": "cart"}}}
ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
ACCOUNT = {"metadata": {"name": "cart"}, "automountServiceAccountToken": False}
CONSIDERED = {
    "resources.gardener.cloud/purpose": "token-invalidator",
    "token-invalidator.resources.gardener.cloud/consider": "true",
}
SECRET = {"metadata": {"name": "cart"}, "data": {"token": "YQ=="}}
_numbers = itertools.count(1)


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    """The object with labels, among them the one of what is managed."""
    managed = {"resources.gardener.cloud/managed-by": "gardener", **labels}
    return {**manifest, "metadata": {**manifest["metadata"], "labels": managed}}


CASES = [
    (DEPLOYMENTS, labelled(workload(), **SERVER)),
    (DEPLOYMENTS, labelled(workload(replicas=7), **{f"{HA}/type": "controller"})),
    (DEPLOYMENTS, labelled(workload(replicas=0), **SERVER)),
    (DEPLOYMENTS, labelled(workload(), **{f"{HA}/skip": "", **SERVER})),
    (STATEFUL_SETS, labelled(workload("StatefulSet", serviceName="cart"), **SERVER)),
    (AUTOSCALERS, labelled(autoscaler(), **SERVER)),
    (AUTOSCALERS_V1, labelled(autoscaler("v1"), **SERVER)),
    (PODS, labelled(pod())),
    (PODS, labelled(pod(serviceAccountName="cart"))),
    (PODS, labelled(pod(topologySpreadConstraints=[SPREAD_BY_HASH]), **{"pod-template-hash": "x"})),
    (PODS, labelled(pod(schedulerName="mine", securityContext={"seccompProfile": {"type": "Unconfined"}}))),
    (SECRETS, labelled(SECRET, **CONSIDERED)),
    (ENDPOINT_SLICES, labelled(endpoint_slice(), **TRUE)),
]


@pytest.fixture(params=list(Mode))
def mode(request: pytest.FixtureRequest) -> Mode:
    """Which cluster the webhooks are registered in."""
    chosen: Mode = request.param
    return chosen


@pytest.fixture
def both(
    mode: Mode, contract_server: ControlPlane, serving_pair: ServingPair
) -> Iterator[tuple[str, tuple[Target, Target]]]:
    """A namespace that is to be highly available, with all webhooks registered, in both targets."""
    name = f"registered-{next(_numbers)}"
    purpose = {"gardener.cloud/purpose": "kube-system"} if mode is Mode.TARGET else {}
    labels = {f"{HA}/consider": "true", **purpose}
    annotations = {f"{HA}/failure-tolerance-type": "zone", f"{HA}/zones": "a,b"}
    targets = MemoryTarget(), ServerTarget(contract_server)
    benches = []
    for target in targets:
        metadata = {"name": name, "labels": labels, "annotations": annotations}
        assert target.send(requests.create(NAMESPACES, {"metadata": metadata})).status == 201
        assert target.send(requests.create(ACCOUNTS, ACCOUNT, name)).status == 201
        benches.append(Bench(target, name, serving_pair))
        for registration in build_webhook_configurations(mode, "", "garden", b"", CONFIG):
            benches[-1].rendered(registration, webhooks(CONFIG))
    yield name, targets
    for bench in benches:
        bench.close()


def test_what_webhooks_make_of_new_objects_is_the_same_on_both(both: tuple[str, tuple[Target, Target]]) -> None:
    namespace, targets = both
    for resource, manifest in CASES:
        bodies = []
        for target in targets:
            answer = target.send(requests.create(resource, manifest, namespace))
            assert answer.status == 201, answer.body
            target.send(requests.delete(resource, ObjectKey(namespace, "cart")))
            bodies.append(without_times(answer.body))
        assert bodies[0] == bodies[1]


def test_webhooks_know_what_else_there_is(both: tuple[str, tuple[Target, Target]]) -> None:
    namespace, targets = both
    for target in targets:
        cart = ObjectKey(namespace, "cart")
        scaler = labelled(autoscaler(maxReplicas=5), **SERVER)
        deployment = labelled(workload(replicas=3), **SERVER)
        assert target.send(requests.create(AUTOSCALERS, scaler, namespace)).body["spec"]["minReplicas"] == 2
        scaled = target.send(requests.create(DEPLOYMENTS, deployment, namespace)).body
        alone = target.send(
            requests.create(DEPLOYMENTS, {**deployment, "metadata": {**deployment["metadata"], "name": "b"}}, namespace)
        ).body
        # What is scaled horizontally keeps its replicas; what is not gets the number that it needs.
        assert (scaled["spec"]["replicas"], alone["spec"]["replicas"]) == (3, 2)
        target.send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"replicas": 1}}, subresource="scale"))
        assert target.send(requests.get(DEPLOYMENTS, cart)).body["spec"]["replicas"] == 1
        assert (
            target.send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"paused": True}})).body["spec"]["replicas"]
            == 2
        )


def test_every_webhook_leaves_its_mark(both: tuple[str, tuple[Target, Target]], mode: Mode) -> None:
    namespace, targets = both
    for target in targets:

        def created(resource: Resource, manifest: Any, target: Target = target) -> Any:
            return target.send(requests.create(resource, manifest, namespace)).body

        spec = created(PODS, labelled(pod(serviceAccountName="cart")))["spec"]
        (container,) = spec["containers"]
        marks = {
            "token-invalidator": created(SECRETS, labelled(SECRET, **CONSIDERED))["data"]["token"] == INVALIDATED,
            "projected-token-mount": [volume["name"] for volume in spec.get("volumes", ())]
            == ["kube-api-access-gardener"],
            "pod-scheduler-name": spec["schedulerName"] == "bin-packing-scheduler",
            "seccomp-profile": spec["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}},
            "kubernetes-service-host": {"name": "KUBERNETES_SERVICE_HOST", "value": "api.example.com"}
            in container.get("env", ()),
            "endpoint-slice-hints": created(ENDPOINT_SLICES, labelled(endpoint_slice(), **TRUE))["endpoints"][0].get(
                "hints"
            )
            == {"forZones": [{"name": "a"}]},
            "system-components-config": spec.get("nodeSelector") == {"role": "system"},
        }
        assert [name for name, is_there in marks.items() if not is_there] == (
            [] if mode is Mode.TARGET else ["system-components-config"]
        )
