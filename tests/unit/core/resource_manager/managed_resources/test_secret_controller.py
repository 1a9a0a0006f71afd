"""Secrets that are held back for as long as a ManagedResource needs them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES, ClassFilter
from hedgerow.api.references import secret_names
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import ApiError
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller
from tests.unit.core.resource_manager.turns import Clusters, take_turn

FINALIZER = "resources.gardener.cloud/gardener-resource-manager-ours"
FOREIGN = "somebody.else/finalizer"
CONTROLLER = secret_controller(ClassFilter("ours"))
ONE = ObjectKey("shop", "one")


def secret(*finalizers: str, name: str = "one", namespace: str = "shop", **metadata: Any) -> dict[str, Any]:
    held = {"finalizers": list(finalizers)} if finalizers else {}
    identity = {"namespace": namespace, "name": name, "resourceVersion": "7"}
    return {"metadata": {**identity, **held, **metadata}, "data": {"password": "c2VjcmV0"}}


def managed_resource(
    *names: str, of: str = "ours", name: str = "app", namespace: str = "shop", **metadata: Any
) -> dict[str, Any]:
    return {
        "metadata": {"namespace": namespace, "name": name, "generation": 1, "uid": name} | metadata,
        "spec": {"class": of, "secretRefs": [{"name": secret} for secret in names]},
    }


def finalizers_after(*managed_resources: Manifest, stored: Manifest) -> list[str]:
    """What holds a Secret back once it had its turn."""
    clusters = Clusters.of(source={SECRETS: [stored], MANAGED_RESOURCES: managed_resources})
    take_turn(clusters, CONTROLLER, key_of(stored))
    assert not take_turn(clusters, CONTROLLER, key_of(stored)).actions
    return list(clusters.source[SECRETS][key_of(stored)]["metadata"].get("finalizers") or [])


@pytest.mark.parametrize(
    ("managed_resources", "stored", "finalizers"),
    [
        pytest.param([], secret(), [], id="SEC-3 nobody"),
        pytest.param([managed_resource("one", of="theirs")], secret(), [], id="SEC-3 another class"),
        pytest.param([managed_resource("two")], secret(), [], id="SEC-3 another Secret"),
        pytest.param([managed_resource("one")], secret(FINALIZER), [FINALIZER], id="SEC-4"),
        pytest.param([managed_resource("one")], secret(), [FINALIZER], id="SEC-5"),
        pytest.param([managed_resource("one")], secret(FOREIGN), [FOREIGN, FINALIZER], id="SEC-5 others stay"),
        pytest.param([managed_resource("two")], secret(FINALIZER), [], id="SEC-6"),
        pytest.param([managed_resource("one", of="")], secret(FINALIZER, FOREIGN), [FOREIGN], id="SEC-7"),
        pytest.param([managed_resource("one", name="b")], secret(FINALIZER), [FINALIZER], id="SEC-9"),
        pytest.param(
            [managed_resource("one", deletionTimestamp="2026-01-01T00:00:00Z")],
            secret(FINALIZER),
            [FINALIZER],
            id="SEC-10",
        ),
        pytest.param([], secret(FINALIZER), [], id="SEC-12"),
    ],
)
def test_a_secret_is_held_while_a_managed_resource_of_the_class_names_it(
    managed_resources: list[Manifest], stored: Manifest, finalizers: list[str]
) -> None:
    assert finalizers_after(*managed_resources, stored=stored) == finalizers


def test_a_secret_that_is_gone_needs_nothing() -> None:  # SEC-1
    clusters = Clusters.of(source={SECRETS: [], MANAGED_RESOURCES: [managed_resource("one")]})

    assert not take_turn(clusters, CONTROLLER, ONE).actions


@pytest.mark.parametrize(
    ("stored", "refusal"),
    [
        pytest.param(secret(), ApiError(409, "Conflict", "somebody was faster"), id="SEC-8"),
        pytest.param(secret(), ApiError(500, "", "etcd is away"), id="SEC-8 server"),
        pytest.param(
            secret(deletionTimestamp="2026-01-01T00:00:00Z"),
            ApiError(422, "Invalid", "metadata.finalizers: Forbidden: no new finalizers can be added"),
            id="SEC-13",
        ),
    ],
)
def test_what_is_refused_is_asked_for_again_until_it_succeeds(stored: Manifest, refusal: ApiError) -> None:
    clusters = Clusters.of(source={SECRETS: [stored], MANAGED_RESOURCES: [managed_resource("one")]})
    clusters.refused = {ONE: refusal}

    first, second = (take_turn(clusters, CONTROLLER, ONE) for _ in range(2))
    clusters.refused.clear()
    take_turn(clusters, CONTROLLER, ONE)

    assert first.actions == second.actions
    assert len(first.actions) == 1
    assert first.end.actions, "so that the refusal is a failure of the turn, which is tried again"
    assert FINALIZER in clusters.source[SECRETS][ONE]["metadata"]["finalizers"]


def test_nothing_is_asked_that_could_go_unanswered() -> None:  # SEC-2
    clusters = Clusters.of(source={SECRETS: [secret()], MANAGED_RESOURCES: [managed_resource("one")]})
    clusters.broken = lambda _question: True

    course = take_turn(clusters, CONTROLLER, ONE)

    assert not course.questions
    assert not any(watch.may_be_absent for watch in CONTROLLER.watches if watch.resource == SECRETS)
    assert FINALIZER in clusters.source[SECRETS][ONE]["metadata"]["finalizers"]


def test_a_name_of_another_shape_is_told_by_its_path() -> None:
    odd = managed_resource("one") | {"spec": {"secretRefs": [{"name": "one"}, {"name": 5}]}}

    with pytest.raises(UnreadableError, match=r"^spec\.secretRefs\[1\]\.name: expected a string, got an integer$"):
        secret_names(odd)


def keys_of(resource: Resource, change: Change, *managed_resources: Manifest) -> frozenset[ObjectKey]:
    """The Secrets that a change concerns."""
    (watch,) = [watch for watch in CONTROLLER.watches if watch.resource == resource]
    snapshot = Clusters.of(source={MANAGED_RESOURCES: managed_resources}).snapshot(CONTROLLER)
    old, new = (version and watch.transform(version) for version in (change.old, change.new))
    return concerned_keys(watch, Change(old, new), snapshot)


def test_a_managed_resource_concerns_the_secrets_that_it_names_and_named() -> None:  # SEC-6 SEC-11
    old, new = managed_resource("a", "", generation=1), managed_resource("b", generation=2)
    a, b = ObjectKey("shop", "a"), ObjectKey("shop", "b")

    assert keys_of(MANAGED_RESOURCES, Change(None, old)) == {a}
    assert keys_of(MANAGED_RESOURCES, Change(old, None)) == {a}
    assert keys_of(MANAGED_RESOURCES, Change(old, new)) == {a, b}


def test_a_new_status_of_a_managed_resource_concerns_no_secret() -> None:
    old, new = managed_resource("a"), managed_resource("a") | {"status": {}}

    assert not keys_of(MANAGED_RESOURCES, Change(old, new))


def test_a_secret_concerns_itself_while_it_is_held_or_named() -> None:
    assert keys_of(SECRETS, Change(None, secret(FINALIZER))) == {ONE}  # SEC-12
    assert keys_of(SECRETS, Change(None, secret()), managed_resource("one")) == {ONE}
    assert not keys_of(SECRETS, Change(None, secret()), managed_resource("two"))
    assert not keys_of(SECRETS, Change(secret(FINALIZER), None), managed_resource("one"))


def test_no_more_than_metadata_is_read_of_a_secret() -> None:
    (watch,) = [watch for watch in CONTROLLER.watches if watch.resource == SECRETS]

    assert watch.metadata_only
    assert watch.transform(secret(FINALIZER, labels={"a": "b"})) == {"metadata": secret(FINALIZER)["metadata"]}
    assert {each.cluster for each in CONTROLLER.watches} == {Cluster.SOURCE}


def test_the_controller_of_a_class_may_patch_secrets_and_yields_to_the_one_that_applies() -> None:
    controller = secret_controller(ClassFilter("ours"), 3)

    assert controller.permissions == (Permission("", "secrets", ("patch",), cluster=Cluster.SOURCE),)
    assert (controller.name, controller.concurrency, controller.yields_to) == ("secret", 3, ("managedresource",))
    assert [(each.resource, each.may_be_absent) for each in controller.watches] == [
        (SECRETS, False),
        (MANAGED_RESOURCES, True),
    ]
    assert (controller.primary, controller.primary_cluster) == (SECRETS, Cluster.SOURCE)
    snapshot = Clusters.of(source={MANAGED_RESOURCES: (managed_resource("one"),)}).snapshot(controller)
    keys = [watch.enqueue for watch in controller.watches]
    assert [*keys[0](secret(), snapshot)] == [*keys[1](managed_resource("one"), snapshot)] == [ONE]


NAMES = st.sampled_from("abc")
SPACES = st.sampled_from(("shop", "back"))
SECRET_SETS = st.dictionaries(st.tuples(SPACES, NAMES), st.sets(st.sampled_from((FINALIZER, FOREIGN))), max_size=5)
OWNERS = st.dictionaries(
    st.tuples(SPACES, NAMES), st.tuples(st.lists(NAMES, max_size=2), st.sampled_from(("ours", "theirs"))), max_size=4
)


@given(SECRET_SETS, OWNERS)
def test_exactly_the_secrets_that_are_named_are_held_and_nothing_else_changes(
    secrets: dict[tuple[str, str], set[str]], owners: dict[tuple[str, str], tuple[list[str], str]]
) -> None:
    stored = [secret(*sorted(held), namespace=space, name=name) for (space, name), held in secrets.items()]
    naming = [
        managed_resource(*names, namespace=space, name=name, of=of) for (space, name), (names, of) in owners.items()
    ]
    clusters = Clusters.of(source={SECRETS: stored, MANAGED_RESOURCES: naming})
    named = {(space, each) for (space, _), (names, of) in owners.items() if of == "ours" for each in names}

    for each in stored:
        take_turn(clusters, CONTROLLER, key_of(each))

    for each in stored:
        after = clusters.source[SECRETS][key_of(each)]
        held = set(after["metadata"].get("finalizers") or ())
        assert (FINALIZER in held) is (tuple(key_of(each)) in named)
        assert (FOREIGN in held) is (FOREIGN in (each["metadata"].get("finalizers") or ()))
        assert after["data"] == each["data"]
        assert not take_turn(clusters, CONTROLLER, key_of(each)).actions
