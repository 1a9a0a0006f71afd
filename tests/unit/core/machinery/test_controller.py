"""Which changes pass a predicate, and which keys they concern."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import (
    SINGLETON,
    Change,
    Context,
    Controller,
    Watch,
    all_keys,
    concerned_keys,
    creation_deletion_or,
    is_owned,
    keys_from,
    owned_objects,
    plans,
    primary_object,
)
from hedgerow.machinery.manifests import snapshot_of
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import Now
from hedgerow_adapters.cache import StoreSnapshot
from tests.snapshots import snapshot_over

THINGS = Resource("", "v1", "things", "Thing")
EMPTY = StoreSnapshot({})


def thing(name: str, uid: str = "1") -> Manifest:
    return {"metadata": {"namespace": "shop", "name": name, "uid": uid}}


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        pytest.param(Change(None, thing("a")), True, id="creation"),
        pytest.param(Change(thing("a"), None), True, id="deletion"),
        pytest.param(Change(thing("a"), thing("a")), False, id="update without a change"),
        pytest.param(Change(thing("a", "1"), thing("a", "2")), True, id="another object of the same name"),
    ],
)
def test_an_update_passes_only_if_something_changed(change: Change, *, passes: bool) -> None:
    assert creation_deletion_or(lambda _old, _new: False)(change) is passes


def test_a_change_concerns_the_keys_of_both_versions() -> None:
    watch = Watch(THINGS, transform=lambda manifest: manifest, enqueue=lambda manifest, _snapshot: (key_of(manifest),))

    concerned = concerned_keys(watch, Change(thing("a"), thing("b")), EMPTY)

    assert concerned == {ObjectKey("shop", "a"), ObjectKey("shop", "b")}


def test_plans_are_made_only_of_decisions_that_await_nothing() -> None:
    async def asks_for_the_time(_key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
        await Now()
        return Plan()

    watch = Watch(THINGS, transform=lambda manifest: manifest, enqueue=lambda manifest, _snapshot: (key_of(manifest),))
    controller = Controller("test", THINGS, (watch,), 1, None, asks_for_the_time)
    snapshot = snapshot_over(controller, {THINGS: (thing("a"),)})

    with pytest.raises(TypeError, match="the decision about shop/a awaits Now, which only a driver can perform"):
        list(plans(controller, snapshot, datetime(2026, 1, 1, tzinfo=UTC)))


def watched(cluster: Cluster = Cluster.TARGET) -> Watch:
    return Watch(
        THINGS,
        transform=lambda manifest: manifest,
        enqueue=lambda manifest, _snapshot: (key_of(manifest),),
        cluster=cluster,
    )


A, B, OWNER = ObjectKey("shop", "a"), ObjectKey("shop", "b"), ObjectKey("shop", "owner")
OWNED: Index[ObjectKey] = Index(
    "owned", THINGS, lambda each: [OWNER] if each["metadata"]["name"] == "b" else [], Cluster.TARGET
)
OWNING: Controller[None] = Controller(
    "test",
    THINGS,
    (watched(Cluster.SOURCE), watched()),
    1,
    None,
    lambda _key, _snapshot, _context: Plan(),
    owned=OWNED,
    primary_cluster=Cluster.SOURCE,
)
PERIODIC = replace(OWNING, periodic=True)


def world(*, source: Manifest, target: tuple[Manifest, ...]) -> Snapshot:
    """Things of both clusters, for a controller whose primary ones are in the source cluster."""
    return snapshot_of(
        OWNING,
        [{"apiVersion": "v1", "kind": "Thing", **each} for each in target],
        [{"apiVersion": "v1", "kind": "Thing", **source}],
    ).unwrap()


def test_the_keys_of_a_controller_are_those_of_primary_objects_and_of_owners_each_in_its_cluster() -> None:
    snapshot = world(source=thing("a"), target=(thing("b"), thing("c")))

    assert all_keys(OWNING, snapshot) == [A, OWNER]
    assert list(keys_from(OWNING, snapshot, Cluster.SOURCE)) == [A]
    assert list(keys_from(OWNING, snapshot, Cluster.TARGET)) == [OWNER]
    assert all_keys(PERIODIC, snapshot) == list(keys_from(PERIODIC, snapshot, Cluster.SOURCE)) == [SINGLETON]
    assert list(keys_from(PERIODIC, snapshot, Cluster.TARGET)) == []


def test_a_key_names_the_primary_object_in_its_cluster() -> None:
    snapshot = world(source=thing("a", "source"), target=(thing("a", "target"), thing("b")))

    found = primary_object(OWNING, snapshot, A)
    assert found is not None
    assert found["metadata"]["uid"] == "source"
    assert primary_object(OWNING, snapshot, B) is None
    assert primary_object(PERIODIC, snapshot, A) is None


def test_a_controller_owns_what_its_index_has_in_its_cluster() -> None:
    snapshot = world(source=thing("b", "source"), target=(thing("a"), thing("b", "target")))

    assert [each["metadata"]["uid"] for each in owned_objects(OWNING, snapshot)] == ["target"]
    assert is_owned(OWNING, thing("b"))
    assert not is_owned(OWNING, thing("a"))
    unowning = replace(OWNING, owned=None)
    assert owned_objects(unowning, snapshot) == []
    assert not is_owned(unowning, thing("b"))


def test_a_change_that_its_predicate_drops_concerns_no_key() -> None:
    watch = replace(watched(), predicate=lambda change: change.old is None)

    assert concerned_keys(watch, Change(thing("a"), thing("b")), EMPTY) == frozenset()
    assert concerned_keys(watch, Change(None, thing("b")), EMPTY) == {B}
