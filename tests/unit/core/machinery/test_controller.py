"""Which changes pass a predicate, and which keys they concern."""

import pytest

from hedgerow.machinery.controller import Change, Watch, concerned_keys, creation_deletion_or
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.cache import StoreSnapshot

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
