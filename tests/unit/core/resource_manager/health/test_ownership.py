"""To which ManagedResource a pod belongs."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.resource_manager.health.object_progress import owner_chain, transform_pod, transform_replica_set


def owner(kind: str, name: str, api_version: str = "apps/v1") -> dict[str, str]:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": name}


def owned(*owners: Manifest, origin: str | None = None) -> dict[str, Any]:
    annotations = {} if origin is None else {"resources.gardener.cloud/origin": origin}
    return {"metadata": {"namespace": "ns", "name": "x", "ownerReferences": list(owners), "annotations": annotations}}


POD = owned(owner("ReplicaSet", "rs"))
REPLICA_SET = owned(owner("Deployment", "d"))
DEPLOYMENT = owned(origin="foo:bar/baz")
ODD_OWNERS: list[Any] = ["x", {}, ["x", None], [{**owner("ReplicaSet", "rs"), "name": 5}]]
ODD = [{"metadata": {"namespace": "ns", "name": "x", "ownerReferences": owners}} for owners in ODD_OWNERS]


def belongs_to(
    pod: Manifest, replica_set: Manifest | None = REPLICA_SET, deployment: Manifest | None = DEPLOYMENT
) -> ObjectKey | None:
    """Where a pod belongs in a world of one ReplicaSet `ns/rs` and one Deployment `ns/d`."""
    world = {("ReplicaSet", ObjectKey("ns", "rs")): replica_set, ("Deployment", ObjectKey("ns", "d")): deployment}

    def look_up(resource: Resource, key: ObjectKey) -> Manifest | None:
        assert resource.api_version == "apps/v1"
        return world.get((resource.kind, key))

    return owner_chain(pod, look_up, "foo")


def test_a_pod_belongs_where_the_deployment_of_its_replica_set_comes_from() -> None:  # PR-16
    assert belongs_to(POD) == ObjectKey("bar", "baz")


@pytest.mark.parametrize(
    "world",
    [
        pytest.param((owned(),), id="a pod without owner"),
        *(pytest.param((odd,), id="a pod of odd owners") for odd in ODD),
        pytest.param((owned(owner("StatefulSet", "rs")),), id="a pod of something else"),
        pytest.param((owned(owner("ReplicaSet", "rs", "extensions/v1beta1")),), id="a pod of another group"),
        pytest.param((owned(owner("ReplicaSet", "gone")),), id="a missing ReplicaSet"),
        pytest.param((POD, owned()), id="a ReplicaSet without Deployment"),
        pytest.param((POD, REPLICA_SET, None), id="a missing Deployment"),
        pytest.param((POD, REPLICA_SET, owned()), id="a Deployment of no origin"),
        pytest.param((POD, REPLICA_SET, owned(origin="bar/baz")), id="a Deployment of foreign origin"),
    ],
)
def test_a_pod_belongs_nowhere_if_a_link_is_missing(world: tuple[Any, ...]) -> None:  # PR-15
    assert belongs_to(*world) is None


def test_of_odd_owners_nothing_is_kept() -> None:
    identity = {"namespace": "ns", "name": "x"}

    assert all(kept(odd) == {"metadata": identity} for odd in ODD for kept in (transform_pod, transform_replica_set))


def test_the_last_of_several_owners_counts() -> None:
    assert belongs_to(owned(owner("ReplicaSet", "gone"), owner("ReplicaSet", "rs"), owner("Foo", "foo")))
    assert belongs_to(owned(owner("ReplicaSet", "rs"), owner("ReplicaSet", "gone"))) is None
