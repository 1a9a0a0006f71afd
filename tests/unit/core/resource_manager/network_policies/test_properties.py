"""What holds in every world: one answer in any order, nothing left to do afterwards, nobody else's policy touched."""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.api.kubernetes import NETWORK_POLICIES
from hedgerow.api.network_policies import service_of_policy
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Create, Delete
from hedgerow.resource_manager.network_policies import DesiredPolicies, NetworkPolicy, desired_network_policies
from hedgerow.resource_manager.network_policies.views import NamespaceView, ServiceView
from tests.unit.core.resource_manager.network_policies.worlds import (
    FOREIGN,
    Cluster,
    World,
    changes,
    managed,
    without_server_fields,
    worlds,
)
from tests.unit.orders import ORDERS

FEW, MANY = settings(max_examples=15), settings(max_examples=40)
LAGS = st.integers(min_value=0, max_value=5)


@MANY
@given(worlds(), ORDERS)
def test_the_order_of_objects_and_fields_does_not_matter(world: World, random: Random) -> None:
    objects = [*world.objects, *world.policies]
    other_order = [reordered(manifest, random) for manifest in random.sample(objects, len(objects))]
    one, other = Cluster(world.config), Cluster(world.config)
    for cluster, manifests in ((one, objects), (other, other_order)):
        for manifest in manifests:
            cluster.hold(manifest)

    assert one.every_key() == other.every_key()
    assert [one.plan(key) for key in one.every_key()] == [other.plan(key) for key in other.every_key()]


def reordered(value: Any, random: Random) -> Any:
    """A value with the fields of its mappings in another order; lists mean their order."""
    if isinstance(value, Mapping):
        return {name: reordered(value[name], random) for name in random.sample([*value], len(value))}
    return [reordered(each, random) for each in value] if isinstance(value, list) else value


@MANY
@given(worlds(), ORDERS)
def test_the_order_of_ports_rules_and_paths_does_not_matter(world: World, random: Random) -> None:
    mixed = tuple(with_mixed_lists(manifest, random) for manifest in world.objects)
    one, other = Cluster.of(world), Cluster.of(World(world.config, mixed, world.policies))

    assert [one.plan(key).actions for key in one.every_key()] == [other.plan(key).actions for key in other.every_key()]


def with_mixed_lists(manifest: Manifest, random: Random) -> Manifest:
    mixed: dict[str, Any] = deepcopy({**manifest})
    random.shuffle(mixed.get("spec", {}).get("ports", []))
    for rule in mixed.get("spec", {}).get("rules", []):
        random.shuffle(rule["http"]["paths"])
    return mixed


@MANY
@given(worlds())
def test_nothing_is_left_to_do_once_everything_was_done(world: World) -> None:
    cluster = Cluster.of(world)
    cluster.settle()

    assert [cluster.plan(key).actions for key in cluster.every_key() if cluster.plan(key).actions] == []


@MANY
@given(worlds())
def test_policies_of_nobody_are_never_touched(world: World) -> None:
    cluster = Cluster.of(world)
    before = {key: cluster.policies[key] for key in map(key_of, FOREIGN)}
    cluster.settle()

    assert {key: cluster.policies.get(key) for key in before} == before


@FEW
@given(worlds(), st.data())
def test_a_crash_after_any_write_leads_to_the_same_policies(world: World, data: st.DataObject) -> None:
    undisturbed = Cluster.of(world)
    writes = len(undisturbed.settle())
    survives = data.draw(st.integers(min_value=0, max_value=writes))
    random = data.draw(ORDERS)

    crashed = Cluster.of(world)
    actions = (action for key in crashed.every_key() for action in in_any_order(crashed.plan(key).actions, random))
    done = 0
    while done < survives and (action := next(actions, None)) is not None:
        done += crashed.carry_out(action)
    crashed.settle()

    assert managed(crashed.policies.values()) == managed(undisturbed.policies.values())


def in_any_order(actions: Iterable[Any], random: Random) -> list[Any]:
    """Actions as an executor that sends them at once gets them done."""
    several = [*actions]
    random.shuffle(several)
    return several


@MANY
@given(worlds(), st.lists(changes(), max_size=5), st.lists(st.tuples(st.integers(0, 9), LAGS), max_size=8))
def test_a_view_that_lags_behind_does_no_harm_and_ends_with_the_same_policies(
    world: World, happened: list[Any], looks: list[tuple[int, int]]
) -> None:
    prompt, late = Cluster.of(world), Cluster.of(world)
    for cluster in (prompt, late):
        cluster.settle()
        for change in happened:
            cluster.happen(change)
    prompt.settle()

    keys = late.every_key()
    for number, behind in looks if keys else ():
        for action in late.plan(keys[number % len(keys)], behind).actions:
            live = late.policies.get(action.key)
            if late.carry_out(action) and isinstance(action, Delete):
                assert live is not None
                assert service_of_policy(live), "a policy of nobody was deleted"
    late.settle()

    assert [late.plan(key).actions for key in late.every_key() if late.plan(key).actions] == []
    stuck = {key for key in late.every_key() if late.plan(key).failures}
    assert readable(late, stuck) == readable(prompt, stuck)
    assert {key: late.policies.get(key) for key in map(key_of, FOREIGN)} == {
        key: prompt.policies.get(key) for key in map(key_of, FOREIGN)
    }


def readable(cluster: Cluster, stuck: set[ObjectKey]) -> Mapping[ObjectKey, Any]:
    """The policies of Services that can be understood; what others have depends on when they could be."""
    return {key: ours for key, ours in managed(cluster.policies.values()).items() if ours[0][0] not in stuck}


@MANY
@given(worlds())
def test_what_is_applied_is_unique_ours_and_not_deleted(world: World) -> None:
    cluster = Cluster.of(world)
    for key in cluster.every_key():
        plan = cluster.plan(key)
        touched = [action.key for action in plan.actions]
        assert len(touched) == len({*touched})
        for action in plan.actions:
            if isinstance(action, Create):
                assert service_of_policy(action.manifest) == (key,)
            if isinstance(action, Delete):
                assert service_of_policy(cluster.policies[action.key]) == (key,)


@MANY
@given(worlds())
def test_each_way_in_has_exactly_one_way_out(world: World) -> None:
    for subject in of_kind(world, "Service"):
        desired = answer(world, subject)
        if any(failure.resource == NETWORK_POLICIES for failure in desired.failures):
            continue  # of two policies that want one name only one exists, whatever becomes of the other halves
        ways_in = [policy for policy in desired.policies if policy.spec["policyTypes"] == ["Ingress"]]
        ways_out = [policy for policy in desired.policies if policy.spec["policyTypes"] == ["Egress"]]
        paired = [policy for policy in ways_in if policy.reason != "from-world" and has_another_half(policy, world)]

        assert Counter(map(permission_in, paired)) == Counter(map(permission_out, ways_out))
        assert len({policy.key for policy in desired.policies}) == len(desired.policies)


def of_kind(world: World, kind: str) -> list[Manifest]:
    return [manifest for manifest in world.objects if manifest["kind"] == kind]


def answer(world: World, subject: Manifest) -> DesiredPolicies:
    return desired_network_policies(
        subject, of_kind(world, "Namespace"), of_kind(world, "Ingress"), world.config
    ).value_or(DesiredPolicies())


def has_another_half(way_in: NetworkPolicy, world: World) -> bool:
    """Whether the namespace is alive in which it would lie; that of the ingress controller may be gone."""
    home = permission_in(way_in)[2]
    alive = {view.name for view in map(NamespaceView.of, of_kind(world, "Namespace")) if not view.terminating}
    return way_in.reason != "ingress-backend" or home in alive


def permission_in(policy: NetworkPolicy) -> tuple[str, ...]:
    """Who may reach whom on which ports, as the policy of the pods that are reached says it."""
    spec = policy.manifest()["spec"]
    ((peer,), ports) = (spec["ingress"][0][name] for name in ("from", "ports"))
    return policy.key.namespace, str(spec["podSelector"]), home_of(peer, policy), str(peer["podSelector"]), str(ports)


def permission_out(policy: NetworkPolicy) -> tuple[str, ...]:
    """The same, as the policy of the pods that connect says it."""
    spec = policy.manifest()["spec"]
    ((peer,), ports) = (spec["egress"][0][name] for name in ("to", "ports"))
    return home_of(peer, policy), str(peer["podSelector"]), policy.key.namespace, str(spec["podSelector"]), str(ports)


def home_of(peer: Mapping[str, Any], policy: NetworkPolicy) -> str:
    """The namespace that a peer names, or that of the policy."""
    selector = peer.get("namespaceSelector")
    return str(selector["matchLabels"]["kubernetes.io/metadata.name"]) if selector else policy.key.namespace


@FEW
@given(worlds())
def test_views_and_manifests_get_the_same_answer_and_nothing_is_changed(world: World) -> None:
    before = deepcopy(world.objects)
    namespaces = [NamespaceView.of(manifest) for manifest in of_kind(world, "Namespace")]
    ingresses = of_kind(world, "Ingress")
    for subject in of_kind(world, "Service"):
        of_view = desired_network_policies(ServiceView.of(subject), namespaces, ingresses, world.config)
        assert of_view == desired_network_policies(subject, of_kind(world, "Namespace"), ingresses, world.config)
    assert world.objects == before
    assert all(without_server_fields(manifest) == manifest for manifest in world.policies)
