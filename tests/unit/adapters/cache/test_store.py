"""Stores against the plainest model of one: a dictionary that is searched."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.clusters import EVERYTHING, Cluster, ReadScope
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, UnfiledError
from tests.snapshots import snapshot_over
from tests.unit.adapters.cache.stores import replace_all

PODS = Resource("", "v1", "pods", "Pod")


def colours(pod: Manifest) -> list[str]:
    return str(pod["metadata"]["labels"].get("colour", "")).split("-")


BY_COLOUR = Index("by colour", PODS, colours)


def pod(key: ObjectKey, colour: str = "red", version: int = 1) -> Manifest:
    metadata = {"namespace": key.namespace, "name": key.name, "resourceVersion": str(version)}
    return {"metadata": {**metadata, "labels": {"colour": colour}}}


keys = st.builds(ObjectKey, st.sampled_from(["", "shop", "web"]), st.sampled_from(["a", "b", "c"]))
pods = st.builds(pod, keys, st.sampled_from(["red", "blue", "red-blue"]), st.integers(1, 3))


BY_NAMESPACE = (ReadScope("shop"), ReadScope("web"), *(ReadScope(name=name) for name in "abc"))
"""Scopes that do not overlap, and hold every key."""


def replacements(scope: ReadScope) -> st.SearchStrategy[tuple[ReadScope, list[Manifest]]]:
    some = pods.filter(lambda each: scope.holds(key_of(each)))
    return st.tuples(st.just(scope), st.lists(some, max_size=5))


def histories(
    scopes: tuple[ReadScope, ...],
) -> st.SearchStrategy[tuple[tuple[ReadScope, ...], list[tuple[str | ReadScope, Any]]]]:
    steps = st.one_of(
        st.tuples(st.just("put"), pods),
        st.tuples(st.just("remove"), keys),
        *(replacements(scope) for scope in scopes),
    )
    return st.tuples(st.just(scopes), st.lists(steps, max_size=15))


any_history = st.one_of(histories((EVERYTHING,)), histories(BY_NAMESPACE))


def scope_of(key: ObjectKey, scopes: tuple[ReadScope, ...]) -> ReadScope:
    return next(scope for scope in scopes if scope.holds(key))


def in_order(objects: Any) -> list[str]:
    return sorted(map(str, objects))


@given(any_history)
def test_a_store_shows_what_a_plain_dictionary_would(
    history: tuple[tuple[ReadScope, ...], list[tuple[str | ReadScope, Any]]],
) -> None:
    store, model = ObjectStore([BY_COLOUR]), dict[ObjectKey, Manifest]()
    scopes, steps = history
    for step, what in steps:
        before = dict(model)
        match step:
            case "put":
                model[key_of(what)] = what
                assert store.put(what, scope_of(key_of(what), scopes)) == Change(before.get(key_of(what)), what)
            case "remove":
                old = model.pop(what, None)
                assert store.remove(what, scope_of(what, scopes)) == (Change(old, None) if old else None)
            case ReadScope():
                model = {key: each for key, each in model.items() if not step.holds(key)}
                model |= {key_of(each): each for each in what}
                changes = replace_all(store, what, step)
                assert in_order(changes) == in_order(differences(before, model))

        assert len(store) == len(model)
        assert in_order(store.all()) == in_order(model.values())
        for key in [ObjectKey("shop", "a"), ObjectKey("", "b")]:
            assert store.get(key) == model.get(key)
        for namespace in ("shop", "web"):
            expected = [each for key, each in model.items() if key.namespace == namespace]
            assert in_order(store.of_namespace(namespace)) == in_order(expected)
        for colour in ("red", "blue"):
            expected = [each for each in model.values() if colour in colours(each)]
            assert in_order(store.under(BY_COLOUR, colour)) == in_order(expected)
        assert set(store.values_of(BY_COLOUR)) == {colour for each in model.values() for colour in colours(each)}


def differences(before: Mapping[ObjectKey, Manifest], after: Mapping[ObjectKey, Manifest]) -> list[Change]:
    return [
        Change(before.get(key), after.get(key))
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    ]


def test_a_replacement_tells_only_what_is_different_new_and_changed_in_order_then_removals() -> None:
    a, b, c, d = (pod(ObjectKey("shop", name)) for name in "abcd")
    store = ObjectStore()
    replace_all(store, [b, a, c])
    newer = pod(ObjectKey("shop", "c"), version=2)

    assert replace_all(store, [d, newer]) == [Change(None, d), Change(c, newer), Change(a, None), Change(b, None)]
    assert replace_all(store, [newer, d]) == []


@given(before=st.lists(pods, max_size=5), after=st.lists(pods, max_size=5), another_index=st.booleans())
def test_of_a_replacement_nothing_is_seen_before_it_is_complete_and_then_all_of_it(
    before: list[Manifest], after: list[Manifest], *, another_index: bool
) -> None:
    by_version = Index("by version", PODS, lambda each: [each["metadata"]["resourceVersion"]])

    def shown() -> list[list[str]]:
        under_index = [store.under(BY_COLOUR, "red")] + ([store.under(by_version, "1")] if another_index else [])
        return [in_order(objects) for objects in [store.all(), store.of_namespace("shop"), *under_index]]

    store = ObjectStore([BY_COLOUR])
    replace_all(store, before)
    store.replacement().add([pod(ObjectKey("shop", "given up"))])
    replacement = store.replacement()
    if another_index:
        store.add_index(by_version)
    at_first = shown()
    for manifest in after:
        replacement.add([manifest])
        assert shown() == at_first
    replacement.commit()

    replaced = shown()
    store = ObjectStore([BY_COLOUR, by_version])
    for manifest in after:
        store.put(manifest)
    assert replaced == shown()


def test_what_a_replacement_does_not_change_is_held_once() -> None:
    first = pod(ObjectKey("shop", "a"))
    store = ObjectStore([BY_COLOUR])
    store.put(first)

    replace_all(store, [pod(ObjectKey("shop", "a"))])

    assert store.get(ObjectKey("shop", "a")) is store.under(BY_COLOUR, "red")[0] is first


def put_alone(store: ObjectStore, broken: Manifest) -> None:
    store.put(broken)


def put_in_place_of_all(store: ObjectStore, broken: Manifest) -> None:
    replace_all(store, [pod(ObjectKey("shop", "a"), "blue"), broken])


@pytest.mark.parametrize("write", [put_alone, put_in_place_of_all])
def test_a_write_that_an_index_cannot_make_sense_of_changes_nothing(
    write: Callable[[ObjectStore, Manifest], None],
) -> None:
    store = ObjectStore([BY_COLOUR])
    first, second = ObjectKey("shop", "a"), ObjectKey("shop", "b")
    replace_all(store, [pod(first), pod(second)])
    broken = {"metadata": {"namespace": "shop", "name": "b", "labels": None}}

    with pytest.raises(UnfiledError, match=r"^shop/b cannot be filed: AttributeError: "):
        write(store, broken)

    assert store.all() == store.under(BY_COLOUR, "red") == [pod(first), pod(second)]
    assert store.under(BY_COLOUR, "blue") == []


def test_what_a_store_hands_out_does_not_change_with_it() -> None:
    store = ObjectStore([BY_COLOUR])
    store.put(pod(ObjectKey("shop", "a")))
    shown = [store.all(), store.of_namespace("shop"), store.under(BY_COLOUR, "red")]

    store.remove(ObjectKey("shop", "a"))

    assert [len(objects) for objects in shown] == [1, 1, 1]
    assert [len(store.all()), len(store.of_namespace("shop")), len(store.under(BY_COLOUR, "red"))] == [0, 0, 0]


def test_a_snapshot_reads_what_the_watches_of_its_controller_keep() -> None:
    controller = network_policy_controller(NetworkPolicyConfig())
    services, policies, namespaces = (watch.resource for watch in controller.watches)
    owner = ObjectKey("shop", "cart")
    domain = "networking.resources.gardener.cloud"
    labels = {f"{domain}/service-name": "cart", f"{domain}/service-namespace": "shop", "other": "label"}
    policy = {"metadata": {"name": "p", "namespace": "shop", "labels": labels}, "status": {}}
    shops = [{"metadata": {"name": name, "labels": {"tier": tier}}} for name, tier in [("shop", "1"), ("web", "2")]]

    snapshot = snapshot_over(controller, {policies: [policy], namespaces: shops})

    assert controller.owned is not None
    (kept,) = snapshot.by_index(controller.owned, owner)
    assert "other" not in labels_of(kept)
    assert snapshot.get(policies, ObjectKey("shop", "p")) is kept
    assert snapshot.list(policies, namespace="web") == snapshot.list(services) == []
    selector = LabelSelector((("tier", "2"),))
    assert [key_of(found).name for found in snapshot.list(namespaces, selector=selector)] == ["web"]


def test_of_what_a_snapshot_does_not_hold_it_shows_nothing() -> None:
    a = pod(ObjectKey("shop", "a"))
    store = ObjectStore([BY_COLOUR])
    store.put(a)
    at_hand: list[tuple[Cluster, Resource]] = []
    snapshot = StoreSnapshot({}, {}, lambda *what: store if what in at_hand else None)

    def shown() -> list[Any]:
        return [
            snapshot.has_synced(PODS),
            snapshot.get(PODS, key_of(a)),
            [*snapshot.list(PODS)],
            [*snapshot.by_index(BY_COLOUR, "red")],
        ]

    assert shown() == [False, None, [], []]
    at_hand.append((Cluster.TARGET, PODS))
    assert shown() == [True, a, [a], [a]]
    assert not snapshot.has_synced(PODS, Cluster.SOURCE)


@given(any_history, st.integers(0, 5))
def test_an_index_that_comes_later_shows_the_same_as_one_from_the_beginning(
    history: tuple[tuple[ReadScope, ...], list[tuple[str | ReadScope, Any]]], when: int
) -> None:
    scopes, steps = history
    by_version = Index("by version", PODS, lambda each: [each["metadata"]["resourceVersion"]])
    early, late = ObjectStore([by_version, BY_COLOUR]), ObjectStore([by_version])
    for store in (early, late):
        _go_through(store, scopes, steps[:when])
    late.add_index(BY_COLOUR)
    for store in (early, late):
        _go_through(store, scopes, steps[when:])

    for colour in ("red", "blue", "green"):
        assert in_order(late.under(BY_COLOUR, colour)) == in_order(early.under(BY_COLOUR, colour))
    for index in (by_version, BY_COLOUR):
        assert {*late.values_of(index)} == {*early.values_of(index)}


def _go_through(store: ObjectStore, scopes: tuple[ReadScope, ...], history: list[tuple[str | ReadScope, Any]]) -> None:
    for step, what in history:
        match step:
            case "put":
                store.put(what, scope_of(key_of(what), scopes))
            case "remove":
                store.remove(what, scope_of(what, scopes))
            case scope:
                assert isinstance(scope, ReadScope)
                replace_all(store, what, scope)
