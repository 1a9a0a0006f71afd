"""What is garbage, row by row of the specification."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.api.reference_annotations import inject_annotations
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Delete
from hedgerow.resource_manager.garbage_collection import CANDIDATES, plan_gc, user_resources
from tests.unit.orders import ORDERS

PREFIX = "reference.resources.gardener.cloud/"
LABEL = "resources.gardener.cloud/garbage-collectable-reference"
NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
LONG_AGO = "2024-04-01T00:00:00Z"
SECRETS, CONFIG_MAPS = CANDIDATES


def candidate(
    name: str, namespace: str = "shop", *, label: str | None = "true", created: Any = LONG_AGO, **more: Any
) -> Manifest:
    labels = {} if label is None else {LABEL: label}
    metadata = {"namespace": namespace, "name": name, "labels": labels, "creationTimestamp": created}
    return {"metadata": metadata | more}


def user(annotations: dict[str, str], namespace: str = "shop") -> Manifest:
    return {"metadata": {"namespace": namespace, "name": "user", "annotations": annotations}}


def garbage(
    *, secrets: tuple[Manifest, ...] = (), config_maps: tuple[Manifest, ...] = (), users: tuple[Manifest, ...] = ()
) -> list[str]:
    deletions = plan_gc(secrets=secrets, config_maps=config_maps, users=users, now=NOW).unwrap()
    return [f"{deletion.resource.kind} {deletion.key}" for deletion in deletions]


def test_without_candidates_nothing_is_deleted() -> None:
    assert garbage(users=(user({f"{PREFIX}secret-1": "one"}),)) == []


@pytest.mark.parametrize("label", [None, "yes", "True", "1", ""])
def test_what_does_not_carry_the_label_with_exactly_true_is_kept(label: str | None) -> None:
    one = (candidate("one", label=label),)

    assert garbage(secrets=one, config_maps=one) == []


def test_what_nobody_refers_to_is_deleted_in_the_order_of_kind_namespace_and_name() -> None:
    some = (candidate("b"), candidate("a"), candidate("c", "back"))

    assert garbage(secrets=some, config_maps=some) == [
        "ConfigMap back/c",
        "ConfigMap shop/a",
        "ConfigMap shop/b",
        "Secret back/c",
        "Secret shop/a",
        "Secret shop/b",
    ]


def test_a_deletion_holds_only_for_the_version_that_was_listed() -> None:
    one = candidate("one", uid="uid", resourceVersion="7")

    (deletion,) = plan_gc(secrets=[one], config_maps=[], users=[], now=NOW).unwrap()

    assert deletion == Delete(SECRETS, ObjectKey("shop", "one"), "unreferenced", "uid", "7")


def test_what_is_referred_to_is_kept_as_that_kind_and_no_other() -> None:
    one = (candidate("one"),)

    assert garbage(secrets=one, config_maps=one, users=(user({f"{PREFIX}secret-1": "one"}),)) == ["ConfigMap shop/one"]
    assert garbage(secrets=one, config_maps=one, users=(user({f"{PREFIX}configmap-1": "one"}),)) == ["Secret shop/one"]


def test_an_object_of_the_same_name_in_another_namespace_is_deleted() -> None:
    users = (user({f"{PREFIX}secret-1": "one"}),)

    assert garbage(secrets=(candidate("one"), candidate("one", "back")), users=users) == ["Secret back/one"]


@pytest.mark.parametrize(
    ("age", "kept"),
    [
        (timedelta(minutes=5), True),
        (timedelta(minutes=10) - timedelta(seconds=1), True),
        (timedelta(minutes=10), False),
        (timedelta(minutes=-5), True),
    ],
)
def test_what_is_younger_than_ten_minutes_is_kept(age: timedelta, *, kept: bool) -> None:
    created = (NOW - age).isoformat().replace("+00:00", "Z")

    assert (garbage(secrets=(candidate("one", created=created),)) == []) is kept


def test_the_lifetime_that_is_granted_can_be_another() -> None:
    one = candidate("one", created="2024-05-01T11:59:00Z")

    assert plan_gc(secrets=[one], config_maps=[], users=[], now=NOW, min_lifetime=timedelta(seconds=60)).unwrap()


def test_what_has_no_time_of_creation_is_old_and_what_has_an_unreadable_one_is_kept() -> None:
    some = (candidate("none", created=None), candidate("unreadable", created="soon"), candidate("number", created=1))

    assert garbage(secrets=some) == ["Secret shop/none"]


def test_what_is_being_deleted_already_is_not_deleted_again() -> None:
    assert garbage(secrets=(candidate("one", deletionTimestamp="2024-05-01T11:00:00Z"),)) == []


def test_a_reference_counts_whatever_stands_in_the_place_of_its_hash() -> None:
    assert garbage(secrets=(candidate("name"),), users=(user({f"{PREFIX}secret-foo": "name"}),)) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{PREFIX}secret/name/foo", "one"),
        (f"{PREFIX}my-secret-1234", "one"),
        ("foobar/secret-x", "one"),
        (f"{PREFIX}secret-1234", ""),
    ],
)
def test_annotations_that_are_no_references_do_not_count(key: str, value: str) -> None:
    assert garbage(secrets=(candidate("one"),), users=(user({key: value}),)) == ["Secret shop/one"]


def test_the_config_map_that_a_pod_moved_away_from_is_deleted() -> None:
    config_maps = (candidate("test-1234"), candidate("test-5678"))
    pod = user({f"{PREFIX}configmap-82a3537f": "test-5678"})

    assert garbage(config_maps=config_maps, users=(pod,)) == ["ConfigMap shop/test-1234"]


def test_workloads_pods_and_managed_resources_are_users() -> None:
    assert [str(resource) for resource in user_resources(old_cron_jobs=False)] == [
        "deployments.apps",
        "statefulsets.apps",
        "daemonsets.apps",
        "jobs.batch",
        "pods",
        "cronjobs.batch",
        "managedresources.resources.gardener.cloud",
    ]


def test_old_cron_jobs_are_users_where_api_servers_still_serve_them() -> None:
    old = Resource("batch", "v1beta1", "cronjobs", "CronJob")

    assert old in user_resources(old_cron_jobs=True)
    assert old not in user_resources(old_cron_jobs=False)


@pytest.mark.parametrize(
    ("users", "secrets", "failure"),
    [
        ([{"metadata": []}], [], "object without a name: metadata: expected an object, got a list"),
        (["x"], [], "object without a name: manifest: expected an object, got a string"),
        (
            [{"metadata": {"namespace": "shop", "name": "user", "annotations": {"a": 1}}}],
            [],
            "object shop/user: metadata.annotations[a]: expected a string, got an integer",
        ),
        ([], [{"metadata": {"name": ["x"]}}], "Secret without a name: metadata.name: expected a string, got a list"),
        ([], [candidate("x", labels={"a": None})], "Secret shop/x: metadata.labels[a]: expected a string, got null"),
    ],
)
def test_nothing_is_deleted_if_an_object_cannot_be_read(users: Any, secrets: Any, failure: str) -> None:
    match plan_gc(secrets=secrets, config_maps=[], users=users, now=NOW):
        case Failure(found):
            assert [str(each) for each in found] == [failure]
        case _:
            pytest.fail("it was read")


NAMES = st.sampled_from(("a", "b", "c", "d"))
NAMESPACES = st.sampled_from(("shop", "back"))
CANDIDATE_LISTS = st.lists(
    st.builds(
        candidate,
        NAMES,
        NAMESPACES,
        label=st.sampled_from(("true", "true", "yes", None)),
        created=st.sampled_from((LONG_AGO, "2024-05-01T11:55:00Z")),
    )
)


def pod(namespace: str, secrets: list[str], config_maps: list[str]) -> Manifest:
    volumes = [{"secret": {"secretName": name}} for name in secrets]
    volumes += [{"configMap": {"name": name}} for name in config_maps]
    metadata = {"namespace": namespace, "name": "pod"}
    return inject_annotations(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"volumes": volumes}}
    ).unwrap()


PODS = st.lists(st.builds(pod, NAMESPACES, st.lists(NAMES, max_size=2), st.lists(NAMES, max_size=2)), max_size=3)


@given(CANDIDATE_LISTS, CANDIDATE_LISTS, PODS, ORDERS)
def test_what_an_annotated_pod_uses_is_never_deleted_nor_what_is_young_or_unlabelled(
    secrets: list[Any], config_maps: list[Any], pods: list[Any], random: Any
) -> None:
    deletions = plan_gc(secrets=secrets, config_maps=config_maps, users=pods, now=NOW).unwrap()

    used = {(each["metadata"]["namespace"], *source) for each in pods for source in map(volume_source, volumes(each))}
    listed = [(SECRETS, each) for each in secrets] + [(CONFIG_MAPS, each) for each in config_maps]
    old = {
        (each["metadata"]["namespace"], resource.kind, each["metadata"]["name"])
        for resource, each in listed
        if each["metadata"]["labels"].get(LABEL) == "true" and each["metadata"]["creationTimestamp"] == LONG_AGO
    }
    assert {(each.key.namespace, each.resource.kind, each.key.name) for each in deletions} == old - used
    for objects in (secrets, config_maps, pods):
        random.shuffle(objects)
    assert plan_gc(secrets=secrets, config_maps=config_maps, users=pods, now=NOW) == Success(deletions)


def volumes(manifest: Any) -> Any:
    return manifest["spec"]["volumes"]


def volume_source(volume: Any) -> tuple[str, str]:
    return (
        ("Secret", volume["secret"]["secretName"]) if "secret" in volume else ("ConfigMap", volume["configMap"]["name"])
    )
