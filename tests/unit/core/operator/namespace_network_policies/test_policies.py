"""What is to become of the seven policies: the worked examples, by their numbers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies import (
    Apply,
    Delete,
    Keep,
    NamespacePolicyConfig,
    PolicyDecision,
    RuntimeNetworks,
    decide,
)
from hedgerow.operator.namespace_network_policies.policies import policies_for_labels, relevant_namespaces
from hedgerow.operator.namespace_network_policies.views import (
    NamespaceFacts,
    NamespaceView,
    Resolved,
    ShootView,
    subsets_of,
)
from tests.unit.core.operator.namespace_network_policies.objects import (
    API_SERVER,
    BLOCKED,
    CONFIG,
    DENY_ALL,
    DNS,
    NAMES,
    NETWORKS,
    PRIVATE,
    PUBLIC,
    SHOOT,
    SHOOT_NETWORKING,
    SHOOTS,
    blocks,
    cluster,
    endpoints,
    namespace,
    role,
    subset,
)

GARDEN = namespace("garden")
SHOOT_NAMESPACE = namespace(SHOOT, role("shoot"))
CLUSTER = cluster(networking=SHOOT_NETWORKING)
SHOOT_BLOCKED = ("169.254.169.254/32", "172.16.5.0/24")
ALL_PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")


def decided(
    where: Manifest = GARDEN,
    *,
    config: NamespacePolicyConfig = CONFIG,
    api_server: Manifest | None = endpoints(),  # noqa: B008 -- nobody changes it
    shoot: Manifest | None = CLUSTER,
) -> dict[str, PolicyDecision]:
    view = NamespaceView.of(where)
    subsets = None if api_server is None else subsets_of(api_server)
    return decide(NamespaceFacts(view, config, subsets, ShootView.of(shoot) if shoot else None))


def with_networks(**changes: Any) -> NamespacePolicyConfig:
    return replace(CONFIG, networks=replace(NETWORKS, **changes))


def spec(name: str, decisions: Mapping[str, PolicyDecision]) -> Mapping[str, Any]:
    """What a policy says that is to be applied."""
    decision = decisions[name]
    assert isinstance(decision, Apply), decision
    return decision.spec


def egress(name: str, decisions: Mapping[str, PolicyDecision]) -> list[Any] | None:
    """The rules of a policy that is to be applied; none if it has none."""
    return spec(name, decisions).get("egress")


def failed(decisions: Mapping[str, PolicyDecision]) -> dict[str, str]:
    return {name: each.problem.text for name, each in decisions.items() if isinstance(each, Failure)}


def applied(decisions: Mapping[str, PolicyDecision]) -> tuple[str, ...]:
    return tuple(name for name, each in decisions.items() if isinstance(each, Apply))


CUSTOM = replace(CONFIG, additional_selectors=(LabelSelector((("custom", "namespace"),)),))
SELECTED = {
    "G1": (GARDEN, CONFIG, NAMES[:6]),
    "G2": (namespace("istio-system", role("istio-system")), CONFIG, (DENY_ALL, API_SERVER, DNS)),
    "G3": (namespace("istio-ingress", role("istio-ingress")), CONFIG, (DENY_ALL, DNS)),
    "G4": (namespace("foo", {"handler.exposureclass.gardener.cloud/name": ""}), CONFIG, (DENY_ALL, DNS)),
    "G5": (namespace("extension-x", role("extension")), CONFIG, NAMES[:6]),
    "G6": (SHOOT_NAMESPACE, CONFIG, NAMES),
    "G7": (namespace("foo", {"custom": "namespace"}), CUSTOM, NAMES[:6]),
    "G11": (namespace("extension-x"), CONFIG, ()),
    "additional-and-shoot": (namespace(SHOOT, {"custom": "namespace"}), CUSTOM, NAMES[:6]),
}


@pytest.mark.parametrize(("where", "config", "expected"), SELECTED.values(), ids=SELECTED)
def test_a_namespace_gets_the_policies_that_belong_to_it_and_no_other(
    where: Manifest, config: NamespacePolicyConfig, expected: tuple[str, ...]
) -> None:
    decisions = decided(where, config=config)

    assert tuple(decisions) == NAMES
    assert applied(decisions) == expected
    assert {name for name, each in decisions.items() if isinstance(each, Delete)} == {*NAMES} - {*expected}


INACTIVE = {
    "G9-deleting": namespace("garden", deletionTimestamp="2026-01-01T00:00:00Z"),
    "G9-terminating": namespace("garden", phase="Terminating"),
    "G9-no-phase": namespace("garden", phase=""),
}


@pytest.mark.parametrize("where", INACTIVE.values(), ids=INACTIVE)
def test_nothing_is_decided_about_a_namespace_that_is_not_active(where: Manifest) -> None:
    assert decided(where) == {}


def test_g14_all_traffic_is_denied_to_all_pods() -> None:
    assert spec(DENY_ALL, decided()) == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


TCP_443 = [{"protocol": "TCP", "port": 443}]
G15 = subset("10.2.0.5", "10.2.0.6", "10.2.0.5", not_ready="10.2.0.9")
G15_RULE = {"to": blocks("10.2.0.5/32", "10.2.0.6/32"), "ports": TCP_443}
RESOLVED = Resolved(("1.2.3.4",), 443)
API_SERVERS: dict[str, tuple[Manifest, Resolved | None, Any]] = {
    "G15": (endpoints(G15), None, [G15_RULE]),
    "G16": (
        endpoints(subset("10.2.0.5"), subset("10.2.0.5")),
        None,
        [{"to": blocks("10.2.0.5/32"), "ports": TCP_443}] * 2,
    ),
    "G17": (endpoints(G15), RESOLVED, [G15_RULE, {"to": blocks("1.2.3.4/32"), "ports": TCP_443}]),
    "G18": (
        endpoints(subset("10.2.0.5", ports=(("TCP", 443), ("UDP", 53)))),
        None,
        [{"to": blocks("10.2.0.5/32"), "ports": [*TCP_443, {"protocol": "UDP", "port": 53}]}],
    ),
    "G19": (endpoints(subset("2001:db8::1")), None, [{"to": blocks("2001:db8::1/128"), "ports": TCP_443}]),
    "nobody-is-ready": (endpoints(subset(not_ready="10.2.0.9")), None, None),
    "without-ports": (endpoints(subset("10.2.0.5", ports=())), None, None),
}


@pytest.mark.parametrize(("api_server", "resolved", "expected"), API_SERVERS.values(), ids=API_SERVERS)
def test_the_api_server_is_reached_where_it_is_ready_and_at_its_ports_alone(
    api_server: Manifest, resolved: Resolved | None, expected: Any
) -> None:
    assert egress(API_SERVER, decided(api_server=api_server, config=replace(CONFIG, resolved=resolved))) == expected


@pytest.mark.parametrize("api_server", [None, {"subsets": 1}], ids=["G20", "of another shape"])
def test_without_endpoints_the_policy_for_the_api_server_fails_and_no_other(api_server: Manifest | None) -> None:
    decisions = decided(api_server=api_server)

    assert failed(decisions) == {API_SERVER: "Endpoints default/kubernetes does not exist, or cannot be read"}
    assert applied(decisions) == (DENY_ALL, PUBLIC, PRIVATE, BLOCKED, DNS)


def test_the_policy_for_the_api_server_stays_as_it_is_until_the_name_is_resolved() -> None:
    decisions = decided(config=replace(CONFIG, resolved=Resolved((), 443)), api_server=None)

    assert decisions[API_SERVER] == Keep("api-server-not-resolved")
    assert applied(decisions) == (DENY_ALL, PUBLIC, PRIVATE, BLOCKED, DNS)


def test_where_the_policy_for_the_api_server_does_not_belong_it_goes_whether_resolved_or_not() -> None:
    decisions = decided(namespace("foo"), config=replace(CONFIG, resolved=Resolved((), 443)))

    assert isinstance(decisions[API_SERVER], Delete)


def test_each_address_of_the_api_server_is_one_peer_in_the_order_of_its_first_mention() -> None:
    addresses = subset("10.0.0.2", "2001:DB8::1", "10.0.0.2", "2001:db8:0::1")

    rules = egress(API_SERVER, decided(api_server=endpoints(addresses)))

    assert [rule["to"] for rule in rules or ()] == [blocks("10.0.0.2/32", "2001:db8::1/128")]


@pytest.mark.parametrize("address", ["", "foo.bar", "10.0.0.1/8", "fe80::1%eth0"])
def test_an_endpoint_that_is_no_address_is_refused(address: str) -> None:
    assert set(failed(decided(api_server=endpoints(subset(address))))) == {API_SERVER}


PUBLIC_EXCEPT = [*ALL_PRIVATE]
PUBLICS = {
    "G21": (NETWORKS.block_cidrs, [*PUBLIC_EXCEPT, "169.254.169.254/32"]),
    "G28": ((), PUBLIC_EXCEPT),
    "G32": (("10.0.0.0/8",), [*PUBLIC_EXCEPT, "10.0.0.0/8"]),
    "G33": (("fd00::/8",), PUBLIC_EXCEPT),
}


@pytest.mark.parametrize(("blocked", "expected"), PUBLICS.values(), ids=PUBLICS)
def test_public_networks_are_all_but_private_and_blocked_ones(blocked: tuple[str, ...], expected: list[str]) -> None:
    rules = egress(PUBLIC, decided(config=with_networks(block_cidrs=blocked)))

    assert rules == [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": expected}}]}]


def test_where_everything_is_blocked_nothing_is_public_private_or_of_the_shoot() -> None:
    decisions = decided(SHOOT_NAMESPACE, config=with_networks(block_cidrs=("0.0.0.0/0",)))

    assert [egress(name, decisions) for name in (PUBLIC, PRIVATE, SHOOTS)] == [None, None, None]


def private(*excepts: tuple[str, ...]) -> list[Any]:
    """The rule for private networks, with what is left out of each of them."""
    peers = [
        {"ipBlock": {"cidr": cidr, **({"except": [*left_out]} if left_out else {})}}
        for cidr, left_out in zip(ALL_PRIVATE, (*excepts, *[()] * 4), strict=False)
    ]
    return [{"to": peers}]


RUNTIME = ("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16")
PRIVATES: dict[str, tuple[Manifest, NamespacePolicyConfig, Manifest | None, Any]] = {
    "G22": (GARDEN, CONFIG, None, private(RUNTIME)),
    "G23": (
        SHOOT_NAMESPACE,
        with_networks(block_cidrs=SHOOT_BLOCKED),
        CLUSTER,
        private((*RUNTIME, "10.150.0.0/16"), ("172.16.5.0/24", "172.16.2.0/18"), ("192.168.1.0/17",)),
    ),
    "G25": (SHOOT_NAMESPACE, CONFIG, cluster(), private(RUNTIME)),
    "G32": (GARDEN, with_networks(block_cidrs=("10.0.0.0/8",)), None, [{"to": blocks(*ALL_PRIVATE[1:])}]),
    "G33": (GARDEN, with_networks(block_cidrs=("fd00::/8",)), None, private(RUNTIME)),
    "extension-named-as-a-shoot": (
        namespace(SHOOT, role("extension")),
        CONFIG,
        CLUSTER,
        private((*RUNTIME, "10.150.0.0/16"), ("172.16.2.0/18",), ("192.168.1.0/17",)),
    ),
    "shoot-named-otherwise": (namespace("foo", role("shoot")), CONFIG, CLUSTER, private(RUNTIME)),
}


@pytest.mark.parametrize(("where", "config", "shoot", "expected"), PRIVATES.values(), ids=PRIVATES)
def test_private_networks_leave_out_what_is_ours_blocked_or_the_shoots(
    where: Manifest, config: NamespacePolicyConfig, shoot: Manifest | None, expected: Any
) -> None:
    assert egress(PRIVATE, decided(where, config=config, shoot=shoot)) == expected


def test_g24_shoot_networks_are_written_as_networks_without_what_is_blocked() -> None:
    decisions = decided(SHOOT_NAMESPACE, config=with_networks(block_cidrs=SHOOT_BLOCKED))

    without = {"ipBlock": {"cidr": "172.16.0.0/18", "except": ["172.16.5.0/24"]}}
    assert egress(SHOOTS, decisions) == [{"to": [without, *blocks("10.150.0.0/16", "192.168.0.0/17")]}]


def test_g25_a_shoot_without_networks_opens_none() -> None:
    assert egress(SHOOTS, decided(SHOOT_NAMESPACE, shoot=cluster())) is None


@pytest.mark.parametrize("blocked", ["10.150.0.0/16", "10.148.0.0/14"])
def test_a_shoot_network_that_is_blocked_whole_is_no_peer(blocked: str) -> None:
    decisions = decided(SHOOT_NAMESPACE, config=with_networks(block_cidrs=(blocked,)))

    assert egress(SHOOTS, decisions) == [{"to": blocks("172.16.0.0/18", "192.168.0.0/17")}]


NO_SHOOT = f"Cluster {SHOOT} does not exist, or holds no shoot that can be read"
SHOOTLESS: dict[str, Manifest | None] = {
    "G26": None,
    "without-shoot": {"metadata": {"name": SHOOT}, "spec": {}},
    "unreadable-shoot": {"metadata": {"name": SHOOT}, "spec": {"shoot": {"spec": {"networking": []}}}},
}


@pytest.mark.parametrize("shoot", SHOOTLESS.values(), ids=SHOOTLESS)
def test_without_a_shoot_two_policies_fail_and_are_tried_again(shoot: Manifest | None) -> None:
    decisions = decided(SHOOT_NAMESPACE, shoot=shoot)

    assert failed(decisions) == {PRIVATE: NO_SHOOT, SHOOTS: NO_SHOOT}
    assert all(each.retryable for each in decisions.values() if isinstance(each, Failure))
    assert applied(decisions) == (DENY_ALL, API_SERVER, PUBLIC, BLOCKED, DNS)


def test_g27_each_blocked_range_has_a_rule_of_its_own() -> None:
    decisions = decided(config=with_networks(block_cidrs=("169.254.169.254/32", "fd00::/8")))

    assert egress(BLOCKED, decisions) == [{"to": blocks("169.254.169.254/32")}, {"to": blocks("fd00::/8")}]


def test_g28_where_nothing_is_blocked_the_policy_has_no_rules() -> None:
    assert "egress" not in spec(BLOCKED, decided(config=with_networks(block_cidrs=())))


@pytest.mark.parametrize(
    ("services", "address"),
    [
        pytest.param("10.1.0.0/16", "10.1.0.10/32", id="G29"),
        pytest.param("2001:db8:3::/48", "2001:db8:3::a/128", id="G30"),
        pytest.param("10.1.0.77/16", "10.1.0.10/32", id="host-bits"),
    ],
)
def test_dns_is_reached_by_its_pods_and_its_addresses(services: str, address: str) -> None:
    rules = egress(DNS, decided(config=with_networks(services=services)))

    of_system = {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}
    pods = [
        {
            "namespaceSelector": of_system,
            "podSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": [app]}]},
        }
        for app in ("kube-dns", "node-local-dns")
    ]
    ports = [("UDP", 53), ("TCP", 53), ("UDP", 8053), ("TCP", 8053)]
    assert rules == [
        {
            "to": [*pods, *blocks(address, "169.254.20.10/32")],
            "ports": [{"protocol": protocol, "port": port} for protocol, port in ports],
        }
    ]


def test_g31_services_without_room_for_dns_fail_one_policy() -> None:
    decisions = decided(config=with_networks(services="10.1.0.0/29"))

    problem = 'cannot calculate CoreDNS ClusterIP: cannot compute IP with offset 10 - subnet "10.1.0.0/29" too small'
    assert failed(decisions) == {DNS: problem}
    assert not any(each.retryable for each in decisions.values() if isinstance(each, Failure))


BAD: dict[str, tuple[RuntimeNetworks, dict[str, Any], set[str], str]] = {
    "pods": (replace(NETWORKS, pods="x"), {}, {PRIVATE}, 'runtime network pods: "x" is no CIDR'),
    "nodes": (replace(NETWORKS, nodes="10.0.0.0"), {}, {PRIVATE}, 'runtime network nodes: "10.0.0.0" is no CIDR'),
    "services": (
        replace(NETWORKS, services="10.0.0.0/33"),
        {},
        {PRIVATE, DNS},
        'runtime network services: "10.0.0.0/33" is no CIDR',
    ),
    "blockCIDRs": (
        replace(NETWORKS, block_cidrs=("10.0.0.0/24", "10.0.0.0/08")),
        {},
        {PUBLIC, PRIVATE, BLOCKED, SHOOTS},
        'runtime network blockCIDRs[1]: "10.0.0.0/08" is no CIDR',
    ),
    "shoot": (NETWORKS, {"pods": "y"}, {PRIVATE, SHOOTS}, 'shoot network pods: "y" is no CIDR'),
}


@pytest.mark.parametrize(("networks", "shoot", "names", "problem"), BAD.values(), ids=BAD)
def test_a_network_that_cannot_be_read_fails_the_policies_that_need_it(
    networks: RuntimeNetworks, shoot: Mapping[str, Any], names: set[str], problem: str
) -> None:
    decisions = decided(
        SHOOT_NAMESPACE,
        config=replace(CONFIG, networks=networks),
        shoot=cluster(networking={**SHOOT_NETWORKING, **shoot}),
    )

    assert failed(decisions) == dict.fromkeys(names, problem)
    assert {*applied(decisions)} == {*NAMES} - names


@pytest.mark.parametrize("name", NAMES[1:])
def test_each_policy_selects_the_pods_that_are_labelled_for_it_and_says_so(name: str) -> None:
    decision = decided(SHOOT_NAMESPACE)[name]

    assert isinstance(decision, Apply)
    label = f"networking.gardener.cloud/{name.removeprefix('allow-')}"
    selecting: Mapping[str, Any] = decision.spec
    assert selecting["podSelector"] == {"matchLabels": {label: "allowed"}}
    assert selecting["policyTypes"] == ["Egress"]
    assert f"{label}=allowed" in decision.description


ROLES = st.sampled_from(["shoot", "extension", "istio-system", "istio-ingress", "other"])
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "gardener.cloud/role": ROLES,
        "handler.exposureclass.gardener.cloud/name": st.sampled_from(["", "internet"]),
        "custom": st.sampled_from(["namespace", "other"]),
        "kubernetes.io/metadata.name": st.sampled_from(["garden", "foo"]),
    },
)
ADDITIONAL = st.sampled_from([(), (LabelSelector((("custom", "namespace"),)),), (LabelSelector(),)])
NAMESPACES = st.lists(st.builds(NamespaceView, st.sampled_from("abcdef"), LABELS), unique_by=lambda each: each.name)


def belongs(name: str, labels: dict[str, str], additional: tuple[LabelSelector, ...]) -> bool:
    """The table of the specification, row by row."""
    role = labels.get("gardener.cloud/role")
    columns = {
        "g": labels.get("kubernetes.io/metadata.name") == "garden",
        "sys": role == "istio-system",
        "ing": role == "istio-ingress",
        "exp": "handler.exposureclass.gardener.cloud/name" in labels,
        "sh": role == "shoot",
        "ext": role == "extension",
        "add": any(selector.matches(labels) for selector in additional),
    }
    everywhere = ("g", "sys", "ing", "exp", "sh", "ext", "add")
    rows = dict.fromkeys(NAMES, ("g", "sh", "ext", "add")) | {
        "deny-all": everywhere,
        "allow-to-runtime-apiserver": ("g", "sys", "sh", "ext", "add"),
        "allow-to-dns": everywhere,
        "allow-to-shoot-networks": ("sh",),
    }
    return any(columns[column] for column in rows[name])


@given(LABELS, ADDITIONAL)
def test_a_policy_belongs_where_the_table_says(labels: dict[str, str], additional: tuple[LabelSelector, ...]) -> None:
    assert policies_for_labels(labels, additional) == tuple(name for name in NAMES if belongs(name, labels, additional))


@given(NAMESPACES, ADDITIONAL)
def test_relevant_are_the_namespaces_to_which_any_policy_belongs(
    namespaces: list[NamespaceView], additional: tuple[LabelSelector, ...]
) -> None:
    expected = {each.name for each in namespaces if any(belongs(name, {**each.labels}, additional) for name in NAMES)}

    assert relevant_namespaces(reversed(namespaces), additional) == tuple(sorted(expected))
