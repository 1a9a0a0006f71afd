"""Which changes pass a predicate, and which keys they concern."""

from datetime import UTC, datetime

import pytest

from hedgerow.machinery.controller import (
    Change,
    Context,
    Controller,
    Watch,
    concerned_keys,
    creation_deletion_or,
    plans,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Snapshot
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
