"""What holds of every cluster: nothing is opened by accident, nothing foreign is touched, everything settles."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import NETWORK_POLICIES
from hedgerow.api.network_policies import POLICY_DESCRIPTION
from hedgerow.machinery.controller import all_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of
from hedgerow.machinery.plan import Action, Create, Plan
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies import Apply, NamespacePolicyConfig, RuntimeNetworks, decide
from hedgerow.operator.namespace_network_policies.views import (
    EndpointSubset,
    NamespaceFacts,
    NamespaceView,
    Resolved,
    ShootNetworks,
    ShootView,
)
from tests.unit.core.operator.namespace_network_policies.objects import (
    NAMES,
    PRIVATE,
    PUBLIC,
    SHOOT,
    SHOOTS,
    World,
    cluster,
    endpoints,
    namespace,
    policy,
    role,
    subset,
)

FIRST_BYTES = st.sampled_from([0, 8, 10, 10, 10, 11, 100, 127, 128, 169, 172, 172, 192, 192, 224])
SECOND_BYTES = st.sampled_from([0, 16, 31, 64, 100, 127, 128, 168, 255])
BYTES = st.sampled_from([0, 1, 127, 128, 255])
IPV4 = st.builds("{}.{}.{}.{}/{}".format, FIRST_BYTES, SECOND_BYTES, BYTES, BYTES, st.integers(0, 32))
IPV6 = st.builds("{}::{}/{}".format, st.sampled_from(["", "fd00", "2001:db8"]), BYTES, st.integers(0, 128))
CIDRS = st.one_of(IPV4, IPV4, IPV4, IPV6)
BAD = st.sampled_from(["", "x", "10.0.0.0", "10.0.0.0/33"])
OPTIONAL = st.none() | CIDRS
NETWORKS = st.builds(RuntimeNetworks, CIDRS, CIDRS, OPTIONAL, st.lists(CIDRS, max_size=4).map(tuple))
ADDRESSES = st.sampled_from(["10.2.0.5", "10.2.0.6", "1.2.3.4", "2001:db8::1"])
PORTS = st.lists(st.sampled_from([{"protocol": "TCP", "port": 443}, {"protocol": "UDP", "port": 53}]), max_size=2)
SUBSETS = st.builds(EndpointSubset, st.lists(ADDRESSES, max_size=3).map(tuple), PORTS.map(tuple))
RESOLUTIONS = st.none() | st.builds(Resolved, st.lists(ADDRESSES, max_size=2).map(tuple), st.just(443))
SHOOT_VIEWS = st.none() | st.builds(
    ShootView, st.booleans(), st.none() | st.builds(ShootNetworks, OPTIONAL, OPTIONAL, OPTIONAL)
)
CONFIGS = st.builds(NamespacePolicyConfig, NETWORKS, resolved=RESOLUTIONS)
FACTS = st.builds(
    NamespaceFacts,
    st.sampled_from([NamespaceView(SHOOT, role("shoot")), NamespaceView("extension-x", role("extension"))]),
    CONFIGS,
    st.none() | st.lists(SUBSETS, max_size=3).map(tuple),
    SHOOT_VIEWS,
)


def applied(facts: NamespaceFacts) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """The policies that are to be applied, with their rules."""
    for name, decision in decide(facts).items():
        if isinstance(decision, Apply):
            spec: Mapping[str, Any] = decision.spec
            yield name, spec.get("egress", ())


@given(FACTS)
def test_no_rule_is_without_peers_as_it_would_open_everything(facts: NamespaceFacts) -> None:
    for _, rules in applied(facts):
        assert all(rule["to"] for rule in rules)
        assert all(rule["ports"] for rule in rules if "ports" in rule)


@given(FACTS)
def test_what_is_left_out_lies_strictly_inside_of_what_is_opened(facts: NamespaceFacts) -> None:
    for _, rules in applied(facts):
        for block in (peer["ipBlock"] for rule in rules for peer in rule["to"] if "ipBlock" in peer):
            opened = ip_network(block["cidr"], strict=False)
            for text in block.get("except", ()):
                left_out = ip_network(text, strict=False)
                assert left_out.version == opened.version
                assert left_out.subnet_of(opened)  # type: ignore[arg-type]  # both are of one version
                assert left_out.prefixlen > opened.prefixlen


@given(FACTS)
def test_what_is_blocked_is_reached_by_nobody_who_is_not_labelled_for_it(facts: NamespaceFacts) -> None:
    blocked = [ip_network(text, strict=False) for text in facts.config.networks.block_cidrs]
    for name, rules in applied(facts):
        if name not in {PUBLIC, PRIVATE, SHOOTS}:
            continue
        for block in (peer["ipBlock"] for rule in rules for peer in rule["to"]):
            opened = ip_network(block["cidr"], strict=False)
            left_out = {ip_network(text, strict=False) for text in block.get("except", ())}
            for each in blocked:
                # Of two ranges that have an address in common, one lies in the other.
                is_inside = each.version == opened.version and each.subnet_of(opened)  # type: ignore[arg-type]
                assert not opened.overlaps(each) or (is_inside and each in left_out)


LABELS = st.sampled_from(
    [{}, role("shoot"), role("extension"), role("istio-system"), role("istio-ingress"), {"custom": "namespace"}]
)
NAMESPACE_NAMES = ("garden", "foo", SHOOT, "extension-x")
NAMESPACES = st.builds(
    namespace,
    st.sampled_from(NAMESPACE_NAMES),
    LABELS,
    st.sampled_from(["Active", "Active", "Active", "Terminating", ""]),
)
SPECS: Sequence[Manifest] = (
    {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}], "ingress": []},
)
POLICY_KEYS = st.builds(ObjectKey, st.sampled_from(NAMESPACE_NAMES), st.sampled_from([*NAMES, "other"]))
POLICIES = st.builds(
    lambda key, spec, described: policy(key, spec, described=described),
    POLICY_KEYS,
    st.sampled_from(SPECS),
    st.booleans(),
)
ENDPOINTS = st.sampled_from([endpoints(), endpoints(subset("10.2.0.5", "10.2.0.6"), subset()), endpoints(subset("x"))])
CLUSTERS = st.builds(
    lambda networking: cluster(networking=networking),
    st.none() | st.fixed_dictionaries({}, optional=dict.fromkeys(ShootNetworks._fields, CIDRS | BAD)),
)
ANY_NETWORKS = st.builds(
    RuntimeNetworks,
    CIDRS | BAD,
    CIDRS | BAD,
    OPTIONAL | BAD,
    st.lists(CIDRS | BAD, max_size=2).map(tuple),
)
ANY_CONFIGS = st.builds(
    NamespacePolicyConfig,
    NETWORKS | ANY_NETWORKS,
    st.sampled_from([(), (LabelSelector((("custom", "namespace"),)),)]),
    RESOLUTIONS,
)
OBJECTS = st.tuples(
    st.lists(NAMESPACES, max_size=4), st.lists(POLICIES, max_size=8), st.lists(ENDPOINTS, max_size=1),
    st.lists(CLUSTERS, max_size=1),
)  # fmt: skip


def world_of(objects: Sequence[Sequence[Manifest]], config: NamespacePolicyConfig) -> World:
    return World(*(each for group in objects for each in group), config=config)


def all_actions(world: World) -> list[Action]:
    return [action for key in all_keys(world.controller, world.snapshot) for action in world.plan(key.name).actions]


@given(OBJECTS, ANY_CONFIGS)
def test_the_plan_of_the_applied_plan_is_empty(
    objects: Sequence[Sequence[Manifest]], config: NamespacePolicyConfig
) -> None:
    world = world_of(objects, config)

    for key in all_keys(world.controller, world.snapshot):
        world.apply(world.plan(key.name))

    assert all_actions(world) == []


@given(OBJECTS, ANY_CONFIGS)
def test_what_does_not_carry_our_name_and_description_is_never_touched(
    objects: Sequence[Sequence[Manifest]], config: NamespacePolicyConfig
) -> None:
    world = world_of(objects, config)
    before = dict(world.objects[NETWORK_POLICIES])

    for action in all_actions(world):
        if isinstance(action, Create):
            assert action.key not in before
        else:
            assert action.key.name in NAMES
            assert POLICY_DESCRIPTION in annotations_of(before[action.key])


@given(st.data(), OBJECTS, ANY_CONFIGS)
def test_the_order_of_objects_does_not_matter(
    data: st.DataObject, objects: Sequence[Sequence[Manifest]], config: NamespacePolicyConfig
) -> None:
    world = world_of(objects, config)
    everything = [each for held in world.objects.values() for each in held.values()]
    shuffled = World(*data.draw(st.permutations(everything)), config=config)

    for name in NAMESPACE_NAMES:
        assert shuffled.plan(name) == world.plan(name)


@given(st.data(), OBJECTS, ANY_CONFIGS)
def test_whoever_is_stopped_after_any_write_comes_to_the_same_end(
    data: st.DataObject, objects: Sequence[Sequence[Manifest]], config: NamespacePolicyConfig
) -> None:
    whole, stopped = world_of(objects, config), world_of(objects, config)
    for name in NAMESPACE_NAMES:
        whole.apply(whole.plan(name))
        plan = stopped.plan(name)
        for action in data.draw(st.permutations(plan.actions))[: data.draw(st.integers(0, len(plan.actions)))]:
            stopped.apply(Plan((action,)))

    for name in NAMESPACE_NAMES:
        stopped.apply(stopped.plan(name))

    assert stopped.objects == whole.objects
