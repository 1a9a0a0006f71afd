"""How far ManagedResources have rolled out, as their status comes to tell it."""

from collections.abc import Iterable
from typing import Any

import pytest

from hedgerow.api.kubernetes import CONFIG_MAPS, DEPLOYMENTS, REPLICA_SETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import conditions_of, find
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import ListQuestion
from hedgerow.resource_manager.health.controller import HealthConfig, progressing_controller
from tests.unit.core.resource_manager.health.objects import condition, live, skipped
from tests.unit.core.resource_manager.health.test_controller import managed_resource, reference
from tests.unit.core.resource_manager.turns import Clusters, Course, take_turn

PODS = Resource("", "v1", "pods", "Pod")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet")
ALL = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, REPLICA_SETS, PODS, CONFIG_MAPS)
MR = ObjectKey("ns", "app")
ORIGIN = {"resources.gardener.cloud/origin": "foo:ns/app"}
CONTROLLER = progressing_controller(HealthConfig(cluster_id="foo"))
DEPLOYMENT = reference("apps/v1", "Deployment")
DONE = ("True", "NewReplicaSetAvailable")
ROLLED_OUT = ("False", "ResourcesRolledOut", "All resources have been fully rolled out.")


def workload(kind: str, spec: Any, status: Any, **metadata: Any) -> dict[str, Any]:
    numbers = {"generation": 42, "resourceVersion": "1", "uid": "d", "annotations": ORIGIN}
    return live("apps/v1", kind, spec=spec, status={"observedGeneration": 42, **status}, **{**numbers, **metadata})


def deployment(
    status: str = "True", reason: str = "NewReplicaSetAvailable", message: str = "m", **metadata: Any
) -> dict[str, Any]:
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}}
    return workload("Deployment", spec, {"conditions": [condition("Progressing", status, reason, message)]}, **metadata)


def pod(name: str, *, app: str = "x", owner: str = "rs") -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
    return live("v1", "Pod", name=name, labels={"app": app}, ownerReferences=owners, resourceVersion="1", uid=name)


def replica_set(name: str = "rs", owner: str = "name") -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": owner}]
    return live("apps/v1", "ReplicaSet", name=name, ownerReferences=owners)


def landscape(
    *objects: tuple[Resource, Manifest],
    references: Iterable[Manifest] = (DEPLOYMENT,),
    followed: Iterable[Resource] = ALL,
) -> Clusters:
    subject = managed_resource(*references)
    clusters = Clusters.of(source={MANAGED_RESOURCES: [subject]}, target=dict.fromkeys(ALL, ()), followed=followed)
    for resource, manifest in objects:
        clusters.put(resource, manifest)
    return clusters


def take(clusters: Clusters) -> Course:
    return take_turn(clusters, CONTROLLER, MR)


def said(clusters: Clusters) -> tuple[str, str, str] | None:
    found = find(conditions_of(clusters.source[MANAGED_RESOURCES][MR]), "ResourcesProgressing")
    return None if found is None else (found.status, found.reason, found.message)


def progressing(kind: str, description: str) -> tuple[str, str, str]:
    return "True", f"{kind}Progressing", f'{kind} "ns/name" is progressing: {description}'


STATEFUL_SET = (STATEFUL_SETS, workload("StatefulSet", {"replicas": 3}, {"updatedReplicas": 2}))
DAEMON_SET = (DAEMON_SETS, workload("DaemonSet", {}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 2}))


@pytest.mark.parametrize("followed", [ALL, ()], ids=["followed", "not followed"])
@pytest.mark.parametrize(
    ("entry", "objects", "expected"),
    [
        pytest.param(reference("v1", "ConfigMap"), [], ROLLED_OUT, id="PR-1 no workload"),
        pytest.param(DEPLOYMENT, [], ROLLED_OUT, id="PR-1 missing"),
        pytest.param(DEPLOYMENT, [(DEPLOYMENTS, deployment()), (PODS, pod("one"))], ROLLED_OUT, id="PR-2"),
        pytest.param(
            DEPLOYMENT,
            [(DEPLOYMENTS, deployment(generation=43))],
            progressing("Deployment", "observed generation outdated (42/43)"),
            id="PR-3",
        ),
        pytest.param(
            DEPLOYMENT,
            [(DEPLOYMENTS, deployment("False", "ProgressDeadlineExceeded"))],
            progressing("Deployment", "m"),
            id="PR-5",
        ),
        pytest.param(
            DEPLOYMENT,
            [(DEPLOYMENTS, deployment()), (PODS, pod("one")), (PODS, pod("two"))],
            progressing("Deployment", "there are still non-terminated old pods"),
            id="PR-7",
        ),
        pytest.param(
            DEPLOYMENT,
            [(DEPLOYMENTS, deployment()), (PODS, pod("one")), (PODS, pod("two", app="y"))],
            ROLLED_OUT,
            id="pods of others",
        ),
        pytest.param(
            reference("apps/v1beta2", "Deployment"),
            [(DEPLOYMENTS, deployment("False"))],
            progressing("Deployment", "m"),
            id="another version",
        ),
        pytest.param(
            reference("apps/v1", "StatefulSet"),
            [STATEFUL_SET],
            progressing("StatefulSet", "2 of 3 replica(s) have been updated"),
            id="PR-9",
        ),
        pytest.param(
            reference("apps/v1", "DaemonSet"),
            [DAEMON_SET],
            progressing("DaemonSet", "2 of 3 replica(s) have been updated"),
            id="PR-10",
        ),
        pytest.param(DEPLOYMENT, [(DEPLOYMENTS, skipped(deployment("False")))], ROLLED_OUT, id="PR-11"),
    ],
)
def test_the_condition_tells_what_still_rolls_out(
    entry: Manifest,
    objects: list[tuple[Resource, Manifest]],
    expected: tuple[str, str, str],
    followed: Iterable[Resource],
) -> None:
    clusters = landscape(*objects, references=[entry], followed=followed)

    take(clusters)

    assert said(clusters) == expected
    assert take(clusters).actions == []


def test_pods_are_counted_in_memory_where_they_are_at_hand_and_asked_for_once_where_they_are_not() -> None:
    objects = [(DEPLOYMENTS, deployment()), (PODS, pod("one"))]
    question = ListQuestion(PODS, Cluster.TARGET, "ns", "app=x", metadata_only=True)

    assert take(landscape(*objects)).questions == []
    assert take(landscape(*objects, followed=[DEPLOYMENTS])).questions == [question]


def test_pods_are_counted_where_the_deployment_is_whatever_namespace_its_reference_leaves_out() -> None:
    anywhere = deployment()
    anywhere["metadata"]["namespace"] = "default"
    entry = {name: value for name, value in DEPLOYMENT.items() if name != "namespace"}

    course = take(landscape((DEPLOYMENTS, anywhere), references=[entry], followed=[DEPLOYMENTS]))

    assert course.questions == [ListQuestion(PODS, Cluster.TARGET, "default", "app=x", metadata_only=True)]


def test_pods_of_a_deployment_that_rolls_out_anyway_are_not_counted() -> None:
    clusters = landscape((DEPLOYMENTS, deployment("False")), followed=[DEPLOYMENTS])

    assert take(clusters).questions == []
    assert said(clusters) == progressing("Deployment", "m")


def test_pods_that_cannot_be_counted_are_a_failure_that_leaves_the_condition_alone() -> None:
    clusters = landscape((DEPLOYMENTS, deployment()), followed=[DEPLOYMENTS])
    clusters.broken = lambda question: question.resource == PODS

    course = take(clusters)

    assert course.problems == ["cannot be read: the server is on fire"]
    assert said(clusters) is None


def test_a_deployment_that_is_not_shown_yet_is_not_taken_for_missing() -> None:
    clusters = landscape((DEPLOYMENTS, deployment("False")))
    clusters.unseen = {ObjectKey("ns", "name")}

    take(clusters)

    assert said(clusters) == progressing("Deployment", "m")


def keys_of_change(resource: Resource, change: Change, world: Clusters) -> frozenset[ObjectKey]:
    """Whom a change concerns that the watches of Deployments see."""
    (dynamic,) = CONTROLLER.dynamic_watches
    (watch,) = [watch for watch in dynamic.watches(DEPLOYMENTS) if watch.resource == resource]
    old, new = (version and watch.transform(version) for version in (change.old, change.new))
    return concerned_keys(watch, Change(old, new), world.snapshot(CONTROLLER))


@pytest.mark.parametrize("gone", [True, False])
def test_a_pod_that_comes_or_goes_concerns_the_managed_resource_of_its_deployment(gone: bool) -> None:  # noqa: FBT001 -- PR-16
    world = landscape((DEPLOYMENTS, deployment()), (REPLICA_SETS, replica_set()))
    change = Change(pod("one"), None) if gone else Change(None, pod("one"))

    assert keys_of_change(PODS, change, world) == {MR}


@pytest.mark.parametrize(
    ("world", "followed"),
    [
        pytest.param([(DEPLOYMENTS, deployment())], ALL, id="no ReplicaSet"),
        pytest.param([(REPLICA_SETS, replica_set())], ALL, id="no Deployment"),
        pytest.param([(DEPLOYMENTS, deployment(annotations={})), (REPLICA_SETS, replica_set())], ALL, id="no origin"),
        pytest.param([(DEPLOYMENTS, deployment()), (REPLICA_SETS, replica_set())], [PODS], id="not at hand"),
    ],
)
def test_a_pod_of_unknown_belonging_concerns_nobody(
    world: list[tuple[Resource, Manifest]], followed: Iterable[Resource]
) -> None:  # PR-15
    assert not keys_of_change(PODS, Change(None, pod("one")), landscape(*world, followed=followed))


def test_updates_of_pods_and_changes_of_replica_sets_concern_nobody() -> None:
    world = landscape((DEPLOYMENTS, deployment()), (REPLICA_SETS, replica_set()))

    assert not keys_of_change(PODS, Change(pod("one"), pod("one")), world)
    assert not keys_of_change(REPLICA_SETS, Change(None, replica_set()), world)


def test_only_updates_that_start_or_end_a_rollout_concern_its_managed_resource() -> None:  # PR-12 PR-13 PR-14
    done, running = deployment(), deployment("True", "ReplicaSetUpdated", resourceVersion="2")
    further = deployment("True", "ReplicaSetUpdated", "other", resourceVersion="3")
    world = landscape()

    assert keys_of_change(DEPLOYMENTS, Change(done, running), world) == {MR}
    assert keys_of_change(DEPLOYMENTS, Change(running, done), world) == {MR}
    assert keys_of_change(DEPLOYMENTS, Change(done, done), world) == {MR}
    assert not keys_of_change(DEPLOYMENTS, Change(running, further), world)
    assert not keys_of_change(DEPLOYMENTS, Change(None, running), world)
    assert not keys_of_change(DEPLOYMENTS, Change(running, None), world)


def test_only_workloads_are_followed_and_pods_only_with_deployments() -> None:
    (dynamic,) = CONTROLLER.dynamic_watches
    kinds = set(dynamic.kinds.values(managed_resource(reference("v1", "Pod"), reference("apps/v1beta1", "Deployment"))))

    assert kinds == {DEPLOYMENTS.object_kind}
    assert [watch.resource for watch in dynamic.watches(STATEFUL_SETS)] == [STATEFUL_SETS]
    assert [watch.resource for watch in dynamic.watches(DEPLOYMENTS)] == [DEPLOYMENTS, REPLICA_SETS, PODS]


def test_of_pods_and_replica_sets_of_others_next_to_nothing_is_kept() -> None:
    (dynamic,) = CONTROLLER.dynamic_watches
    _, replica_sets, pods = dynamic.watches(DEPLOYMENTS)
    foreign = {"metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1", "managedFields": [{}]}}
    annotated = {"annotations": {"big": "x" * 1000}, "ownerReferences": [{"apiVersion": "v1", "kind": "Node"}]}
    whole = {"metadata": foreign["metadata"] | annotated, "spec": {"containers": []}}

    for watch in (replica_sets, pods):
        assert watch.metadata_only
        assert watch.transform(whole) == {
            "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1"}
        }
