"""What the webhook handles, what it looks up, and the whole of it on one Deployment."""

from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Denied, Mutated, creation
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability import WorkloadFacts, decide, webhook
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.api.kubernetes import DEPLOYMENTS, NAMESPACES, STATEFUL_SETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from tests.unit.core.admission.high_availability.objects import (
    NAME,
    NAMESPACE,
    UNSET,
    decision,
    deployment,
    hpa,
    hvpa,
    namespace,
)
from tests.unit.core.admission.world import decided, told, world

CONFIG = HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=61)
WEBHOOK = webhook(CONFIG)
QUESTION = ObjectQuestion(NAMESPACES, ObjectKey("", NAMESPACE), Cluster.TARGET)


def asked_about(kind: GroupVersionKind, manifest: Any = None) -> AdmissionRequest:
    resource = GroupVersionResource(kind.group, kind.version, f"{kind.kind.lower()}s")
    return AdmissionRequest(kind, resource, "CREATE", NAMESPACE, NAME, manifest)


def test_the_combined_example() -> None:
    changed = decision(deployment(1, "server"), namespace("zone", "a,b,c"), config=CONFIG)

    assert isinstance(changed, Mutated)
    assert changed.object["spec"] == {
        "replicas": 2,
        "template": {
            "metadata": {"labels": {"foo": "bar"}},
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {
                                            "key": "topology.kubernetes.io/zone",
                                            "operator": "In",
                                            "values": ["a", "b", "c"],
                                        }
                                    ]
                                }
                            ]
                        }
                    }
                },
                "topologySpreadConstraints": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "maxSkew": 1,
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"foo": "bar"}},
                    },
                    {
                        "topologyKey": "topology.kubernetes.io/zone",
                        "minDomains": 2,
                        "maxSkew": 1,
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"foo": "bar"}},
                    },
                ],
                "tolerations": [
                    {
                        "key": "node.kubernetes.io/not-ready",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 60,
                    },
                    {
                        "key": "node.kubernetes.io/unreachable",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 61,
                    },
                ],
            },
        },
    }


def test_the_decision_says_which_rule_changed_what() -> None:
    workload = decision(deployment(1, "server"), namespace("zone", "a"), config=CONFIG)
    autoscaler = decision(hpa(1, 1, "server"), namespace("zone", "a"), config=CONFIG)

    assert isinstance(workload, Mutated)
    assert isinstance(autoscaler, Mutated)
    assert [each.rule for each in workload.mutations] == [
        "replicas",
        "node-affinity",
        "topology-spread-constraints",
        "tolerations",
    ]
    assert [(each.rule, each.patch) for each in autoscaler.mutations] == [
        ("min-replicas", [{"op": "replace", "path": "/spec/minReplicas", "value": 2}]),
        ("max-replicas", [{"op": "replace", "path": "/spec/maxReplicas", "value": 2}]),
    ]


def test_an_hpa_of_the_older_beta_is_handled_too() -> None:
    request = asked_about(
        GroupVersionKind("autoscaling", "v2beta1", "HorizontalPodAutoscaler"),
        {**hpa(1, 1, "controller"), "apiVersion": "autoscaling/v2beta1"},
    )
    changed = decide(request, WorkloadFacts(namespace("zone")), UNSET)

    assert isinstance(changed, Mutated)
    assert changed.object["spec"]["minReplicas"] == 2


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param(
            GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler"),
            'autoscaling version "v1" in request is not supported',
            id="H09",
        ),
        pytest.param(
            GroupVersionKind("apps", "v1beta2", "Deployment"),
            'apps version "v1beta2" in request is not supported',
            id="apps",
        ),
    ],
)
def test_versions_that_are_not_known_are_refused(kind: GroupVersionKind, message: str) -> None:
    assert decide(asked_about(kind, {}), WorkloadFacts(namespace("zone")), UNSET) == Denied(403, message, "Forbidden")


@pytest.mark.parametrize(
    ("kind", "named"),
    [(GroupVersionKind("apps", "v1", "DaemonSet"), "DaemonSet.apps"), (GroupVersionKind("", "v1", "Pod"), "Pod")],
)
def test_other_kinds_pass(kind: GroupVersionKind, named: str) -> None:
    allowed = decide(asked_about(kind, "whatever"), WorkloadFacts(namespace("zone")), CONFIG)

    assert allowed == Allowed(message=f"unexpected resource: {named}")


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE", "CONNECT"])
def test_the_operation_does_not_matter(operation: str) -> None:
    kind = GroupVersionKind("apps", "v1", "Deployment")
    request = AdmissionRequest(
        kind, GroupVersionResource("apps", "v1", "deployments"), operation, NAMESPACE, NAME, deployment(1, "server")
    )
    changed = decide(request, WorkloadFacts(namespace()), UNSET)

    assert isinstance(changed, Mutated)
    assert changed.object["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "there is no object in the request"),
        ("text", "expected an object, got a string"),
        (deployment() | {"kind": "StatefulSet"}, "expected Deployment of apps/v1, got StatefulSet of apps/v1"),
        (deployment("1"), "spec.replicas: expected an integer, got a string"),
        (
            deployment(1, pod={"tolerations": [{}, 7]}),
            "spec.template.spec.tolerations[1]: expected an object, got an integer",
        ),
        (
            deployment(2, labels={"a": 7}),
            "spec.template.metadata.labels[a]: expected a string, got an integer",
        ),
    ],
)
def test_an_object_that_cannot_be_read_is_forbidden(manifest: Any, message: str) -> None:
    request = asked_about(GroupVersionKind("apps", "v1", "Deployment"), manifest)

    assert decide(request, WorkloadFacts(namespace()), CONFIG) == Denied(403, message, "Forbidden")


def test_a_namespace_that_cannot_be_read_stops_every_decision() -> None:
    odd = {"metadata": {"name": NAMESPACE, "annotations": ["zones"]}}
    request = asked_about(GroupVersionKind("", "v1", "Pod"))

    assert decide(request, WorkloadFacts(odd), CONFIG) == Denied(
        500, 'Namespace "shop" or its autoscalers: metadata.annotations: expected an object, got a list'
    )


@pytest.mark.parametrize(("replicas", "autoscaler"), [(5, hpa(1, 9)), (5, hvpa(1, 9)), (2, None)])
def test_autoscalers_are_found_in_the_caches(replicas: int, autoscaler: Any) -> None:
    autoscalers = [
        hpa(1, 9, target={"kind": "StatefulSet"}),
        {**hvpa(1, 9), "metadata": {"name": "h", "namespace": "store"}},
    ]
    around = [namespace(), *autoscalers, *([autoscaler] if autoscaler else [])]
    changed = decided(WEBHOOK, creation(DEPLOYMENTS, deployment(5, "server")), *around)

    assert isinstance(changed, Mutated)
    assert changed.object["spec"]["replicas"] == replicas


def test_the_caches_hold_what_the_namespace_says() -> None:
    snapshot = world(WEBHOOK, namespace("zone", "a,b", "true"))

    assert snapshot.get(NAMESPACES, ObjectKey("", NAMESPACE)) == {
        "metadata": {"name": NAMESPACE, "annotations": namespace("zone", "a,b", "true")["metadata"]["annotations"]}
    }


def test_a_namespace_that_no_cache_shows_is_read_live() -> None:
    request = creation(STATEFUL_SETS, deployment(1, "controller") | {"kind": "StatefulSet"})

    decision, questions = told(WEBHOOK, request, Found((namespace(""),)))

    assert (decision, questions) == (decide(request, WorkloadFacts(namespace("")), CONFIG), [QUESTION])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (NotAnswered(404, "NotFound", 'namespaces "shop" not found'), 'Namespace "shop" not found'),
        (NotAnswered(503, "", "the server is gone"), "the server is gone"),
    ],
)
def test_without_its_namespace_nothing_is_decided_about_an_object_of_any_kind(answer: Answer, message: str) -> None:
    for kind in (GroupVersionKind("apps", "v1", "Deployment"), GroupVersionKind("", "v1", "Pod")):
        assert told(WEBHOOK, asked_about(kind), answer) == (Denied(500, message), [QUESTION])


def test_what_is_in_no_namespace_is_refused_without_asking() -> None:
    kind = GroupVersionKind("", "v1", "Node")
    request = AdmissionRequest(kind, GroupVersionResource("", "v1", "nodes"), "CREATE", name=NAME)

    assert told(WEBHOOK, request, Found((namespace(),))) == (Denied(500, 'Namespace "" not found'), [])
