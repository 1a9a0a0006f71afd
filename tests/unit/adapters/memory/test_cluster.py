"""What only the in-memory cluster can do: be scripted, be looked into, and be the same every time."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.memory import DEFAULT_RESOURCES, Answered, Fault, InMemoryCluster, Lost, requests
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.kinds import Kind
from hedgerow_adapters.protocol import requests as api
from hedgerow_adapters.protocol.transport import Request, Response, TransportError

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


def create(cluster: InMemoryCluster, manifest: Manifest, namespace: str = "default") -> Manifest:
    response = cluster.handle(api.create(CONFIG_MAPS, manifest, namespace))
    assert response.status == 201, response.body
    created: Manifest = response.body
    return created


def names(cluster: InMemoryCluster, namespace: str = "") -> list[str]:
    return [manifest["metadata"]["name"] for manifest in cluster.objects(CONFIG_MAPS, namespace)]


def test_two_clusters_with_the_same_history_are_the_same() -> None:
    clusters = InMemoryCluster(), InMemoryCluster()
    for cluster in clusters:
        create(cluster, config_map("a"))
        create(cluster, {"metadata": {"generateName": "made-"}})

    assert clusters[0].objects(CONFIG_MAPS) == clusters[1].objects(CONFIG_MAPS)


def test_uids_and_made_names_are_never_given_twice() -> None:
    cluster = InMemoryCluster()
    made = [create(cluster, {"metadata": {"generateName": "made-"}})["metadata"] for _ in range(2000)]

    assert len({metadata["uid"] for metadata in made}) == 2000
    assert len({metadata["name"] for metadata in made}) == 2000


def test_time_passes_only_when_somebody_lets_it_pass() -> None:
    clock = SettableClock(datetime(2030, 5, 6, 7, 8, 9, 999_999, tzinfo=UTC))
    cluster = InMemoryCluster(now=clock)

    first = create(cluster, config_map("a"))["metadata"]["creationTimestamp"]
    clock.advance(60)
    second = create(cluster, config_map("b"))["metadata"]["creationTimestamp"]

    assert (first, second) == ("2030-05-06T07:08:09Z", "2030-05-06T07:09:09Z")


def test_a_scripted_answer_takes_the_place_of_the_request() -> None:
    cluster = InMemoryCluster()
    busy = Response(429, {"kind": "Status"}, {"retry-after": "1"})
    cluster.faults.append(Fault(requests("POST", "configmaps"), Answered(busy), times=2))
    request = api.create(CONFIG_MAPS, config_map("a"), "default")

    assert [cluster.handle(request).status for _ in range(4)] == [429, 429, 201, 409]


@pytest.mark.parametrize(("after_commit", "expected"), [(False, []), (True, ["a"])], ids=["request", "answer"])
def test_a_request_or_its_answer_can_be_lost(*, after_commit: bool, expected: list[str]) -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests("POST"), Lost(after_commit=after_commit)))

    with pytest.raises(TransportError, match="connection lost"):
        cluster.handle(api.create(CONFIG_MAPS, config_map("a"), "default"))

    assert names(cluster) == expected


def test_a_fault_leaves_other_requests_alone() -> None:
    cluster = InMemoryCluster()
    cluster.faults.append(Fault(requests("DELETE", "secrets"), Lost(), times=None))

    create(cluster, config_map("a"))

    assert names(cluster) == ["a"]


def test_a_further_kind_is_a_further_line() -> None:
    gardens = Kind(Resource("operator.gardener.cloud", "v1alpha1", "gardens", "Garden", namespaced=False))
    cluster = InMemoryCluster(resources=(*DEFAULT_RESOURCES, gardens))

    assert cluster.handle(api.create(gardens.resource, {"metadata": {"name": "g"}, "spec": {"a": 1}})).status == 201
    assert cluster.get(gardens.resource, ObjectKey("", "g")) is not None


def test_changes_are_told_with_the_object_before_and_after() -> None:
    cluster = InMemoryCluster()
    changes: list[Change] = []
    stop = cluster.subscribe(CONFIG_MAPS, changes.append)

    created = create(cluster, config_map("a"))
    patched = cluster.handle(api.merge_patch(CONFIG_MAPS, ObjectKey("default", "a"), {"data": {"x": "1"}})).body
    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "a")))
    stop()
    create(cluster, config_map("b"))

    assert changes == [Change(None, created), Change(created, patched), Change(patched, None)]


def test_everybody_is_told_of_writes_in_their_order_even_if_a_listener_writes() -> None:
    cluster = InMemoryCluster()
    seen: list[str] = []

    def answer_first(change: Change) -> None:
        if change.new is not None and key_of(change.new).name == "first":
            create(cluster, config_map("second"))

    cluster.subscribe(CONFIG_MAPS, answer_first)
    cluster.subscribe(CONFIG_MAPS, lambda change: seen.append(key_of(change.new or {}).name))
    create(cluster, config_map("first"))

    assert seen == ["first", "second"]


def test_a_watch_misses_nothing_that_is_written_while_it_opens() -> None:
    cluster = InMemoryCluster()
    create(cluster, config_map("a"))
    seen: list[str] = []

    def write_once(event: Manifest) -> None:
        seen.append(event["object"]["metadata"]["name"])
        if seen == ["a"]:
            create(cluster, config_map("0-first-in-order"))

    cluster.watch(Request("GET", "/api/v1/namespaces/default/configmaps", {"watch": "1"}), write_once)

    assert seen == ["a", "0-first-in-order"]


def test_what_a_client_sent_is_not_what_is_stored() -> None:
    cluster = InMemoryCluster()
    manifest = config_map("a", labels={"l": "v"})
    create(cluster, manifest)

    manifest["metadata"]["labels"]["l"] = "changed later"

    assert cluster.objects(CONFIG_MAPS)[0]["metadata"]["labels"] == {"l": "v"}


def test_old_changes_are_forgotten_and_enough_are_kept() -> None:
    cluster = InMemoryCluster(history=10)
    versions = [create(cluster, config_map(f"a{number}"))["metadata"]["resourceVersion"] for number in range(40)]

    def first_event(version: str) -> str:
        events: list[Manifest] = []
        request = api.watch(CONFIG_MAPS, resource_version=version, timeout_seconds=1)
        cluster.watch(request, events.append)
        event_type: str = events[0]["type"]
        return event_type

    assert first_event(versions[-11]) == "ADDED"
    assert first_event(versions[0]) == "ERROR"


def test_the_server_ends_watches_in_order_or_by_breaking_them() -> None:
    cluster = InMemoryCluster()
    ends: list[TransportError | None] = []
    request = Request("GET", "/api/v1/configmaps", {"watch": "1"})
    broken = TransportError("cut off")

    cluster.watch(request, lambda _event: None, ends.append)
    cluster.close_watches()
    cluster.watch(request, lambda _event: None, ends.append)
    cluster.close_watches(broken)

    assert ends == [None, broken]


def test_a_watch_that_its_client_closed_is_told_nothing_more() -> None:
    cluster = InMemoryCluster()
    events: list[Manifest] = []
    opened = cluster.watch(Request("GET", "/api/v1/configmaps", {"watch": "1"}), events.append)
    assert not isinstance(opened, Response)

    opened.close()
    create(cluster, config_map("a"))
    cluster.send_bookmarks()

    assert events == []


def test_a_terminating_namespace_ends_when_its_content_is_gone() -> None:
    cluster = InMemoryCluster()
    cluster.handle(api.create(NAMESPACES, {"metadata": {"name": "shop"}}))
    create(cluster, config_map("free"), "shop")
    create(cluster, config_map("held", finalizers=["hedgerow.dev/hold"]), "shop")
    create(cluster, config_map("elsewhere"))

    cluster.handle(api.delete(NAMESPACES, ObjectKey("", "shop")))
    cluster.run_controllers()

    assert names(cluster) == ["elsewhere", "held"]
    assert cluster.get(NAMESPACES, ObjectKey("", "shop")) is not None

    release = {"metadata": {"finalizers": None}}
    cluster.handle(api.merge_patch(CONFIG_MAPS, ObjectKey("shop", "held"), release))
    cluster.run_controllers()

    assert names(cluster) == ["elsewhere"]
    assert cluster.get(NAMESPACES, ObjectKey("", "shop")) is None


def owned_by(*owners: Manifest, blocks: bool = False) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]


def test_what_is_owned_goes_after_its_last_owner() -> None:
    cluster = InMemoryCluster()
    first, second = create(cluster, config_map("first")), create(cluster, config_map("second"))
    create(cluster, config_map("of-both", ownerReferences=owned_by(first, second)))
    child = create(cluster, config_map("of-first", ownerReferences=owned_by(first)))
    create(cluster, config_map("grandchild", ownerReferences=owned_by(child)))

    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "first")))
    assert names(cluster) == ["grandchild", "of-both", "of-first", "second"]
    cluster.run_controllers()

    assert names(cluster) == ["of-both", "second"]
    remaining = cluster.get(CONFIG_MAPS, ObjectKey("default", "of-both"))
    assert remaining is not None
    assert [owner["name"] for owner in remaining["metadata"]["ownerReferences"]] == ["second"]

    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "second")))
    cluster.run_controllers()
    assert names(cluster) == []


def test_an_owner_of_the_same_name_is_not_the_owner() -> None:
    cluster = InMemoryCluster()
    owner = create(cluster, config_map("owner"))
    create(cluster, config_map("owned", ownerReferences=owned_by(owner)))

    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "owner")))
    create(cluster, config_map("owner"))
    cluster.run_controllers()

    assert names(cluster) == ["owner"]


def test_an_owner_of_an_unknown_kind_is_believed() -> None:
    cluster = InMemoryCluster()
    reference = {"apiVersion": "example.com/v1", "kind": "Other", "name": "o", "uid": "u"}
    create(cluster, config_map("owned", ownerReferences=[reference]))

    cluster.run_controllers()

    assert names(cluster) == ["owned"]


def test_orphaned_objects_stay_without_the_reference() -> None:
    cluster = InMemoryCluster()
    owner = create(cluster, config_map("owner"))
    create(cluster, config_map("owned", ownerReferences=owned_by(owner)))

    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "owner"), propagation="Orphan"))
    assert names(cluster) == ["owned", "owner"]
    cluster.run_controllers()

    (orphan,) = cluster.objects(CONFIG_MAPS)
    assert "ownerReferences" not in orphan["metadata"]


def test_an_owner_deleted_in_the_foreground_waits_for_what_blocks_it() -> None:
    cluster = InMemoryCluster()
    owner = create(cluster, config_map("owner"))
    held = {"ownerReferences": owned_by(owner, blocks=True), "finalizers": ["hedgerow.dev/hold"]}
    create(cluster, config_map("owned", **held))

    cluster.handle(api.delete(CONFIG_MAPS, ObjectKey("default", "owner"), propagation="Foreground"))
    cluster.run_controllers()
    assert names(cluster) == ["owned", "owner"]

    cluster.handle(api.merge_patch(CONFIG_MAPS, ObjectKey("default", "owned"), {"metadata": {"finalizers": None}}))
    cluster.run_controllers()
    assert names(cluster) == []
