"""What is written so that a namespace has its policies, and whom a change concerns."""

from dataclasses import replace

import pytest

from hedgerow.api.gardener import CLUSTERS
from hedgerow.api.kubernetes import ENDPOINTS, NAMESPACES, NETWORK_POLICIES
from hedgerow.machinery.controller import Change, all_keys, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Create, Delete, MergePatch, Plan
from tests.unit.core.operator.namespace_network_policies.objects import (
    CONFIG,
    DENY_ALL,
    DNS,
    NAMES,
    NETWORKS,
    PRIVATE,
    SHOOT,
    SHOOT_NETWORKING,
    SHOOTS,
    World,
    cluster,
    endpoints,
    full_world,
    namespace,
    policy,
    role,
)

FOO_DENY_ALL = ObjectKey("foo", DENY_ALL)


def settled(world: World, name: str) -> World:
    world.apply(world.plan(name))
    return world


def test_g1_missing_policies_are_created_each_for_its_own_reason() -> None:
    world = full_world()

    plan = world.plan("garden")
    world.apply(plan)

    assert [type(action) for action in plan.actions] == [Create] * 6
    assert [action.reason for action in plan.actions] == [*NAMES[:6]]
    assert {*world.policies("garden")} == {*NAMES[:6]}
    assert (plan.failures, plan.events) == ((), ())


def test_g8_where_no_policy_belongs_ours_goes_and_others_stay() -> None:
    other = policy(ObjectKey("foo", "other"))
    world = World(namespace("foo"), endpoints(), policy(FOO_DENY_ALL), other)

    plan = world.plan("foo")

    uid = f"uid-of-{FOO_DENY_ALL}"
    assert plan == Plan((Delete(NETWORK_POLICIES, FOO_DENY_ALL, "namespace-not-selected", uid, "7"),))


def test_g9_a_namespace_that_goes_is_left_alone() -> None:
    world = World(namespace("foo", phase="Terminating"), endpoints(), policy(FOO_DENY_ALL))

    assert world.plan("foo") == Plan()


def test_g10_a_namespace_that_is_gone_is_no_error() -> None:
    assert World(endpoints()).plan("foo") == Plan()


def test_g11_without_its_role_a_namespace_loses_all_policies() -> None:
    world = settled(full_world(networking=SHOOT_NETWORKING), SHOOT)
    assert {*world.policies(SHOOT)} == {*NAMES}

    world.put(namespace(SHOOT))
    settled(world, SHOOT)

    assert world.policies(SHOOT) == {}


def test_g12_what_was_edited_by_hand_is_put_right_and_what_was_added_stays() -> None:
    world = settled(full_world(), "garden")
    key = ObjectKey("garden", DNS)
    as_made = world.objects[NETWORK_POLICIES][key]
    edited = {
        **as_made,
        "metadata": {
            **as_made["metadata"],
            "labels": {"added": "by-hand"},
            "annotations": {"gardener.cloud/description": "edited", "added": "by-hand"},
        },
        "spec": {**as_made["spec"], "egress": [], "ingress": [{}]},
    }
    world.put(edited)

    plan = world.plan("garden")
    world.apply(plan)

    assert [type(action) for action in plan.actions] == [MergePatch]
    after = world.objects[NETWORK_POLICIES][key]
    assert after["spec"] == as_made["spec"]
    assert after["metadata"]["labels"] == {"added": "by-hand"}
    assert after["metadata"]["annotations"] == {**as_made["metadata"]["annotations"], "added": "by-hand"}


def test_g13_a_label_that_selects_nothing_leads_to_no_write() -> None:
    world = settled(full_world(), "extension-x")

    world.put(namespace("extension-x", {**role("extension"), "unrelated": "label"}))

    assert world.plan("extension-x") == Plan()


def test_an_empty_list_of_rules_is_as_good_as_none() -> None:
    world = settled(full_world(), "garden")
    key = ObjectKey("garden", DENY_ALL)
    as_made = world.objects[NETWORK_POLICIES][key]
    world.put({**as_made, "spec": {**as_made["spec"], "ingress": [], "egress": []}})

    assert world.plan("garden") == Plan()


def test_g26_what_fails_is_told_and_keeps_no_other_policy_from_being_applied() -> None:
    world = World(namespace(SHOOT, role("shoot")), endpoints())

    plan = world.plan(SHOOT)

    failed = {PRIVATE, SHOOTS}
    assert {action.reason for action in plan.actions} == {*NAMES} - failed
    problem = f"spec.egress: Cluster {SHOOT} does not exist, or holds no shoot that can be read"
    assert [str(failure) for failure in plan.failures] == [
        f"NetworkPolicy {SHOOT}/{name}: {problem}" for name in (PRIVATE, SHOOTS)
    ]
    assert all(failure.retryable for failure in plan.failures)


def test_what_there_is_of_a_policy_that_cannot_be_said_stays() -> None:
    world = settled(full_world(networking=SHOOT_NETWORKING), SHOOT)
    before = world.policies(SHOOT)
    world.put(cluster(networking={"pods": "bad"}))

    plan = world.plan(SHOOT)

    assert plan.actions == ()
    assert len(plan.failures) == 2
    assert world.policies(SHOOT) == before


@pytest.mark.parametrize("where", ["foo", "garden"])
def test_a_policy_of_one_of_our_names_that_somebody_else_made_stays_and_is_told_of(where: str) -> None:
    world = full_world()
    foreign = policy(ObjectKey(where, DENY_ALL), described=False)
    world.put(foreign)

    plan = world.plan(where)
    again = world.plan(where)
    world.apply(plan)

    assert world.objects[NETWORK_POLICIES][ObjectKey(where, DENY_ALL)] == foreign
    assert [(event.key.name, event.type, event.reason) for event in plan.events] == [
        (DENY_ALL, "Warning", "ForeignNetworkPolicy")
    ]
    assert again.events == plan.events
    assert plan.failures == ()


def test_a_policy_that_already_goes_is_not_deleted_again() -> None:
    going = policy(FOO_DENY_ALL)
    metadata = {**going["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    world = World(namespace("foo"), endpoints(), {**going, "metadata": metadata})

    assert world.plan("foo") == Plan()


def test_other_networks_lead_to_other_policies() -> None:
    world = settled(full_world(), "garden")

    world.config = replace(CONFIG, networks=replace(NETWORKS, block_cidrs=("100.64.0.0/10",)))

    assert {action.reason for action in world.plan("garden").actions} == {
        "allow-to-public-networks",
        "allow-to-private-networks",
        "allow-to-blocked-cidrs",
    }


def concerned(world: World, resource: Resource, change: Change) -> set[str]:
    """The names of the namespaces that a change concerns; of an object that is not read, none."""
    (watch,) = [each for each in world.controller.watches if each.resource == resource]
    versions = [version for version in (change.old, change.new) if version is not None]
    if not all(watch.reads(version) for version in versions):
        return set()
    return {key.name for key in concerned_keys(watch, change, world.snapshot)}


RELEVANT = {"garden", "istio-system", "istio-ingress", "exposed", SHOOT, "extension-x"}


@pytest.mark.parametrize(
    "change",
    [Change(None, endpoints()), Change(endpoints(), None), Change(endpoints(), endpoints())],
    ids=["G34-created", "G34-deleted", "G34-updated"],
)
def test_where_the_api_server_is_concerns_every_namespace_that_gets_policies(change: Change) -> None:
    assert concerned(full_world(), ENDPOINTS, change) == RELEVANT


@pytest.mark.parametrize("name", ["not-managed", "ingress-to-x-tcp-1"])
def test_g35_a_policy_of_another_name_concerns_nobody(name: str) -> None:
    change = Change(None, policy(ObjectKey("foo", name)))

    assert concerned(full_world(), NETWORK_POLICIES, change) == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_of_one_of_our_names_concerns_its_namespace(name: str) -> None:
    ours = policy(ObjectKey("foo", name), described=False)

    for change in (Change(None, ours), Change(ours, ours), Change(ours, None)):
        assert concerned(full_world(), NETWORK_POLICIES, change) == {"foo"}


@pytest.mark.parametrize("key", [ObjectKey("default", "foo"), ObjectKey("bar", "kubernetes")], ids=["G36-a", "G36-b"])
def test_other_endpoints_concern_nobody(key: ObjectKey) -> None:
    assert concerned(full_world(), ENDPOINTS, Change(None, endpoints(key=key))) == set()


def test_a_namespace_concerns_itself_for_as_long_as_it_exists() -> None:
    world, foo = full_world(), namespace("foo")

    assert concerned(world, NAMESPACES, Change(None, foo)) == {"foo"}
    assert concerned(world, NAMESPACES, Change(foo, foo)) == {"foo"}
    assert concerned(world, NAMESPACES, Change(foo, None)) == set()


def test_a_cluster_concerns_the_namespace_of_its_name() -> None:
    old, new = cluster(networking={}), cluster(networking=SHOOT_NETWORKING)

    assert concerned(full_world(), CLUSTERS, Change(old, new)) == {SHOOT}


def test_every_namespace_is_looked_at_and_every_one_that_has_a_policy_of_ours() -> None:
    world = full_world()
    world.put(policy(ObjectKey("gone", DENY_ALL)), policy(ObjectKey("users", DENY_ALL), described=False))

    names = {key.name for key in all_keys(world.controller, world.snapshot)}

    assert names == {*RELEVANT, "foo", "gone"}


def test_objects_are_kept_as_far_as_they_are_read() -> None:
    world, plain = full_world(), {"managedFields": [{}], "annotations": {"a": "b"}}
    manifest: Manifest = cluster(networking=SHOOT_NETWORKING)
    world.put({**manifest, "metadata": {**manifest["metadata"], **plain}})

    kept = world.snapshot.get(CLUSTERS, ObjectKey("", SHOOT))

    spec = {"networking": SHOOT_NETWORKING, "provider": {"workers": [{"name": "w"}]}}
    shoot = {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "spec": spec}
    assert kept == {"metadata": {"name": SHOOT}, "spec": {"shoot": shoot}}
