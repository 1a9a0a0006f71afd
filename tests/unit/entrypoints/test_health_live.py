"""The health of what is in a cluster, in memory: what is told of it, and how little is asked for it."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory.faults import requests as picked
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.memory.kinds import Kind as Served
from hedgerow_adapters.memory.kinds.workloads import DEPLOYMENTS, PODS
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.requests import METADATA_LIST
from hedgerow_adapters.protocol.transport import Response, Transport
from hedgerow_entrypoints.cli.health.live import judgement_of
from hedgerow_entrypoints.cli.health.verdicts import Judgement
from hedgerow_entrypoints.errors import CommandError
from tests.unit.adapters.runtime.world import Wire
from tests.virtual_clock import virtual_time

FORBIDDEN = Response(
    403,
    {
        "kind": "Status",
        "code": 403,
        "reason": "Forbidden",
        "message": 'configmaps is forbidden: User "me" cannot list resource "configmaps"',
    },
)
APPLIED = [
    {"type": "ResourcesApplied", "status": "True", "reason": "ApplySucceeded", "message": "m"},
    {"type": "ResourcesHealthy", "status": "True", "reason": "ResourcesHealthy", "message": "m"},
    {"type": "ResourcesProgressing", "status": "False", "reason": "ResourcesRolledOut", "message": "m"},
]
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
NODE = NODES.object_kind
CONFIG_MAP, DEPLOYMENT = Kind("v1", "ConfigMap"), Kind("apps/v1", "Deployment")


def managed_resource(name: str, *references: tuple[Kind, str], namespace: str = "default") -> dict[str, Any]:
    resources = [
        {"apiVersion": kind.api_version, "kind": kind.kind, "namespace": "default", "name": each}
        for kind, each in references
    ]
    status = {"observedGeneration": 0, "conditions": APPLIED, "resources": resources}
    return {"metadata": {"name": name, "namespace": namespace}, "status": status}


def config_map(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": {"text": "x" * 1000}}


def cluster_with(objects: Mapping[Resource, Iterable[Manifest]]) -> InMemoryCluster:
    cluster = InMemoryCluster(resources=(*DEFAULT_RESOURCES, Served(MANAGED_RESOURCES)))
    for resource, manifests in objects.items():
        for each in manifests:
            key = key_of(each)
            assert cluster.handle(requests.create(resource, each, key.namespace)).is_success
            if resource == DEPLOYMENTS.resource:
                with_status = {**(cluster.get(resource, key) or {}), "status": each["status"]}
                assert cluster.handle(requests.update(resource, key, with_status, "status")).is_success
    return cluster


async def judged(transport: Transport, namespace: str = "") -> Judgement:
    return await judgement_of(transport, look_up, namespace)


async def look_up(kinds: Iterable[Kind]) -> Kinds:
    served = {each.resource.object_kind: each.resource for each in DEFAULT_RESOURCES}
    return {kind: served.get(kind) or NotAnswered(404, "NoMatch", "no matches") for kind in kinds}


def told(judgement: Judgement) -> list[tuple[str, bool | None, bool | None, str]]:
    return [(str(each.subject), each.healthy, each.progressing, each.why) for each in judgement.verdicts]


@virtual_time
async def test_behind_each_managed_resource_stand_the_objects_that_it_has_applied() -> None:
    gone = managed_resource("b", (CONFIG_MAP, "gone"), (CONFIG_MAP, "here"), (Kind("example.org/v1", "Till"), "t"))
    cluster = cluster_with(
        {
            MANAGED_RESOURCES: [managed_resource("a", (CONFIG_MAP, "here")), gone],
            CONFIG_MAPS: [config_map("here"), config_map("of-somebody-else")],
        }
    )

    assert told(await judged(MemoryTransport(cluster))) == [
        ("ManagedResource default/a", True, False, ""),
        ("ConfigMap default/here", None, None, ""),
        ("ManagedResource default/b", True, False, ""),
        ("ConfigMap default/gone", False, None, "missing"),
        ("Till default/t", False, None, 'missing: no matches for kind "Till" in version "example.org/v1"'),
    ]


@virtual_time
async def test_a_kind_is_listed_once_and_as_metadata_where_no_rule_reads_more() -> None:
    applied = [managed_resource(f"m{number}", (CONFIG_MAP, f"c{number}")) for number in range(20)]
    cluster = cluster_with(
        {MANAGED_RESOURCES: applied, CONFIG_MAPS: [config_map(f"c{number}") for number in range(20)]}
    )
    wire = Wire(MemoryTransport(cluster))

    judgement = await judged(wire)

    assert [(request.path, request.accept == METADATA_LIST) for request in wire.asked] == [
        ("/apis/resources.gardener.cloud/v1alpha1/managedresources", False),
        ("/api/v1/namespaces/default/configmaps", True),
    ]
    assert (len(judgement.verdicts), any(verdict.healthy is False for verdict in judgement.verdicts)) == (40, False)


@virtual_time
async def test_a_namespace_that_turned_out_to_be_none_is_no_matter() -> None:
    definition = managed_resource("a", (NODE, "n"))
    cluster = cluster_with({MANAGED_RESOURCES: [definition], NODES: [{"metadata": {"name": "n"}}]})

    assert told(await judged(MemoryTransport(cluster)))[1:] == [("Node n", None, None, "")]


@virtual_time
async def test_the_managed_resources_of_another_namespace_are_not_judged() -> None:
    other = managed_resource("other", (CONFIG_MAP, "c"), namespace="kube-system")
    cluster = cluster_with({MANAGED_RESOURCES: [managed_resource("a"), other]})

    assert told(await judged(MemoryTransport(cluster), "kube-system")) == [
        ("ManagedResource kube-system/other", True, False, ""),
        ("ConfigMap default/c", False, None, "missing"),
    ]


def deployment(name: str, *, rolled_out: bool = True) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    progressing = {"status": "True", "reason": "NewReplicaSetAvailable" if rolled_out else "X", "message": "half way"}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        "status": {
            "observedGeneration": 1,
            "conditions": [{"type": "Available", "status": "True"}, {"type": "Progressing", **progressing}],
        },
    }


def pod(name: str, app: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"metadata": {"name": name, "namespace": "default", "labels": {"app": app}}, "spec": spec}


def with_deployments() -> InMemoryCluster:
    names = ("done", "crowded", "half-way", "without-pods")
    workloads = [deployment(name, rolled_out=name != "half-way") for name in names]
    return cluster_with(
        {
            MANAGED_RESOURCES: [managed_resource("a", *((DEPLOYMENT, name) for name in names))],
            DEPLOYMENTS.resource: workloads,
            PODS.resource: [pod("p1", "done"), pod("p2", "crowded"), pod("p3", "crowded"), pod("p4", "half-way")],
        }
    )


@virtual_time
async def test_pods_are_counted_where_a_deployment_waits_for_nothing_else() -> None:
    wire = Wire(MemoryTransport(with_deployments()))

    judgement = await judged(wire)

    assert told(judgement)[1:] == [
        ("Deployment default/done", True, False, ""),
        ("Deployment default/crowded", True, True, "there are still non-terminated old pods"),
        ("Deployment default/half-way", True, True, "half way"),
        ("Deployment default/without-pods", True, True, "there are still non-terminated old pods"),
    ]
    assert [(request.path, request.accept) for request in wire.asked][-1] == (
        "/api/v1/namespaces/default/pods",
        METADATA_LIST,
    )


@virtual_time
async def test_what_the_cluster_does_not_show_is_named_and_the_others_are_judged() -> None:
    names = [f"c{number}" for number in range(7)]
    applied = managed_resource("a", *((CONFIG_MAP, name) for name in names), (DEPLOYMENT, "done"))
    cluster = with_deployments()
    cluster.handle(requests.create(MANAGED_RESOURCES, {**applied, "metadata": {"name": "z"}}, "default"))
    cluster.faults += [Fault(picked(path=path), Answered(FORBIDDEN), times=None) for path in ("/configmaps", "/pods")]

    judgement = await judged(MemoryTransport(cluster))

    assert judgement.problems == (
        (
            "missing permission: list pods in namespace default: cannot count the pods of Deployment default/crowded, "
            "Deployment default/done, Deployment default/without-pods"
        ),
        (
            "missing permission: list configmaps in namespace default: cannot judge ConfigMap default/c0, "
            "ConfigMap default/c1, ConfigMap default/c2, ConfigMap default/c3, ConfigMap default/c4 and 2 more"
        ),
    )
    assert [subject for subject, *_ in told(judgement)] == [
        "ManagedResource default/a",
        *(f"Deployment default/{name}" for name in ("done", "crowded", "half-way", "without-pods")),
        "ManagedResource default/z",
    ]


@virtual_time
async def test_a_cluster_that_falls_silent_is_not_waited_for_again_and_again() -> None:
    cluster = with_deployments()
    cluster.faults.append(Fault(picked(path="/deployments"), Lost(hangs=True), times=None))
    wire = Wire(MemoryTransport(cluster))

    with pytest.raises(CommandError, match="timed out"):
        await judged(wire)

    assert wire.lists == 2


@virtual_time
async def test_a_namespace_that_does_not_exist_is_not_taken_for_a_healthy_one() -> None:
    cluster = cluster_with({MANAGED_RESOURCES: [managed_resource("a")]})

    with pytest.raises(CommandError) as raised:
        await judged(MemoryTransport(cluster), "nope")

    assert raised.value.sentences == ('namespaces "nope" not found',)
    assert told(await judged(MemoryTransport(cluster), "kube-system")) == []


@virtual_time
async def test_a_cluster_without_managed_resources_says_so() -> None:
    with pytest.raises(CommandError) as raised:
        await judged(MemoryTransport(InMemoryCluster()))

    assert raised.value.sentences == (
        (
            "the cluster does not know managedresources.resources.gardener.cloud: "
            "it is not installed: `hedgerow crds managedresources | kubectl apply -f -`"
        ),
    )
