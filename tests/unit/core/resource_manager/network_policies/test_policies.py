"""The two halves of a permission, and how they are described."""

from hashlib import sha256

import pytest

from hedgerow.machinery.names import dns_subdomain_problem, label_key_problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.resource_manager.network_policies import NetworkPolicy, PolicyPort, network_policy_label
from hedgerow.resource_manager.network_policies.policies import (
    LONGEST_LABEL_NAME,
    LONGEST_POLICY_NAME,
    Peer,
    Target,
    ingress_controller_pods,
    labelled_pods,
    pod_label,
    policy_id,
    policy_key,
    policy_name_problem,
    selector_text,
    shortened,
)

TARGET = Target(ObjectKey("shop", "cart"), {"matchLabels": {"app": "cart"}})
PODS_OF_B = labelled_pods("b", "x/to-shop-cart-tcp-8080")
OWN_PODS = labelled_pods("shop", "x/to-cart-tcp-8080")
CONTROLLER = ingress_controller_pods("garden", LabelSelector((("component", "controller"), ("app", "nginx"))))


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (LabelSelector(), "map[]"),
        (LabelSelector((("app", "nginx"),)), "map[app:nginx]"),
        (LabelSelector((("b", "2"), ("a", "1"))), "map[a:1 b:2]"),
        (LabelSelector((("a", ""),)), "map[a:]"),
        (LabelSelector((), (Requirement("k", Operator.EXISTS),)), "{map[] [{k Exists []}]}"),
        (
            LabelSelector(
                (("a", "1"),),
                (Requirement("k", Operator.IN, ("v2", "v1")), Requirement("j", Operator.NOT_IN, ("w",))),
            ),
            "{map[a:1] [{k In [v2 v1]} {j NotIn [w]}]}",
        ),
    ],
)
def test_a_selector_reads_as_labels_by_key_then_expressions_as_written(selector: LabelSelector, text: str) -> None:
    assert selector_text(selector) == text


@pytest.mark.parametrize(
    ("peer", "port", "ingress", "egress"),
    [
        pytest.param(
            PODS_OF_B,
            PolicyPort("TCP", 8080),
            "Allows ingress TCP traffic to port 8080 for pods selected by the shop/cart service selector from pods "
            "running in namespace b labeled with map[x/to-shop-cart-tcp-8080:allowed].",
            "Allows egress TCP traffic to port 8080 from pods running in namespace b labeled with "
            "map[x/to-shop-cart-tcp-8080:allowed] to pods selected by the shop/cart service selector.",
            id="labelled pods",
        ),
        pytest.param(
            OWN_PODS,
            PolicyPort("UDP", "dns"),
            "Allows ingress UDP traffic to port dns for pods selected by the shop/cart service selector from pods "
            "running in namespace shop labeled with map[x/to-cart-tcp-8080:allowed].",
            "Allows egress UDP traffic to port dns from pods running in namespace shop labeled with "
            "map[x/to-cart-tcp-8080:allowed] to pods selected by the shop/cart service selector.",
            id="own pods",
        ),
        pytest.param(
            CONTROLLER,
            PolicyPort("SCTP", 9),
            "Allows ingress SCTP traffic to port 9 for pods selected by the shop/cart service selector from ingress "
            "controller pods running in the garden namespace labeled with map[app:nginx component:controller].",
            "Allows egress SCTP traffic to port 9 from pods running in the garden namespace labeled with "
            "map[app:nginx component:controller] to pods selected by the shop/cart service selector.",
            id="ingress controller",
        ),
    ],
)
def test_both_halves_say_what_they_allow(peer: Peer, port: PolicyPort, ingress: str, egress: str) -> None:
    assert TARGET.permission(port, "why").ingress_half("x", peer).description == ingress
    assert TARGET.permission(port, "why").egress_half("x", peer).description == egress


@pytest.mark.parametrize(
    ("ports", "listed"),
    [
        ((), "[]"),
        ((PolicyPort("TCP", 10250),), "[TCP/10250]"),
        ((PolicyPort("UDP", "dns"), PolicyPort(None, 80), PolicyPort("TCP", None)), "[UDP/dns 80 TCP/<nil>]"),
    ],
)
def test_the_policy_for_everybody_lists_its_ports(ports: tuple[PolicyPort, ...], listed: str) -> None:
    assert TARGET.open_to_the_world(ports, "why").description == (
        f"Allows ingress traffic from everywhere to ports {listed} for pods selected by the shop/cart service selector."
    )


def test_both_halves_name_the_other_namespace_and_the_same_port() -> None:
    port = PolicyPort("TCP", 8443, 8500)
    ports = [{"protocol": "TCP", "port": 8443, "endPort": 8500}]
    cart, pods = {"matchLabels": {"app": "cart"}}, {"matchLabels": {"x/to-shop-cart-tcp-8080": "allowed"}}
    in_b = {"matchLabels": {"kubernetes.io/metadata.name": "b"}}
    in_shop = {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}

    ingress = TARGET.permission(port, "why").ingress_half("in", PODS_OF_B)
    egress = TARGET.permission(port, "why").egress_half("out", PODS_OF_B)

    assert (ingress.key, egress.key) == (ObjectKey("shop", "in"), ObjectKey("b", "out"))
    assert ingress.manifest()["spec"] == {
        "podSelector": cart,
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"namespaceSelector": in_b, "podSelector": pods}], "ports": ports}],
    }
    assert egress.manifest()["spec"] == {
        "podSelector": pods,
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"namespaceSelector": in_shop, "podSelector": cart}], "ports": ports}],
    }


def test_within_one_namespace_none_is_named() -> None:
    ingress = TARGET.permission(PolicyPort("TCP", 80), "why").ingress_half("in", OWN_PODS)
    egress = TARGET.permission(PolicyPort("TCP", 80), "why").egress_half("out", OWN_PODS)

    assert ingress.manifest()["spec"]["ingress"][0]["from"] == [{"podSelector": OWN_PODS.selector}]
    assert egress.manifest()["spec"]["egress"][0]["to"] == [{"podSelector": TARGET.selector}]
    assert ingress.key.namespace == egress.key.namespace == "shop"


def test_everybody_is_every_pod_and_every_address() -> None:
    (rule,) = TARGET.open_to_the_world((PolicyPort("TCP", 443),), "why").manifest()["spec"]["ingress"]

    assert rule == {
        "from": [
            {"namespaceSelector": {}, "podSelector": {}},
            {"ipBlock": {"cidr": "0.0.0.0/0"}},
            {"ipBlock": {"cidr": "::/0"}},
        ],
        "ports": [{"protocol": "TCP", "port": 443}],
    }


def test_without_a_list_every_port_is_open_to_everybody() -> None:
    (rule,) = TARGET.open_to_the_world((), "why").manifest()["spec"]["ingress"]

    assert "ports" not in rule


def test_a_policy_is_an_object_that_names_its_service() -> None:
    policy = NetworkPolicy(
        ObjectKey("b", "x"), ObjectKey("shop", "cart"), "Text.", {"podSelector": {}, "policyTypes": ["Ingress"]}, "why"
    )

    assert policy.manifest() == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": "x",
            "namespace": "b",
            "labels": {
                "networking.resources.gardener.cloud/service-name": "cart",
                "networking.resources.gardener.cloud/service-namespace": "shop",
            },
            "annotations": {"gardener.cloud/description": "Text."},
        },
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }


def test_a_name_that_is_too_long_for_an_object_is_shortened() -> None:
    assert len(policy_key("b", "n" * 254).name) == 253
    assert policy_key("b", "n" * 253).name == "n" * 253


N = "networking.resources.gardener.cloud"


@pytest.mark.parametrize(
    ("service", "port", "alias", "identity"),
    [
        ("cart", PolicyPort("TCP", 8080), "", "cart-tcp-8080"),
        ("cart", PolicyPort("UDP", "dns"), "", "cart-udp-dns"),
        ("cart", PolicyPort("SCTP", 9), "", "cart-sctp-9"),
        ("cart", PolicyPort(None, 9), "", "cart-tcp-9"),
        ("cart", PolicyPort("TCP", 8080), "all-scrape-targets", "cart-tcp-8080-via-all-scrape-targets"),
    ],
)
def test_a_policy_is_called_after_service_port_and_alias(
    service: str, port: PolicyPort, alias: str, identity: str
) -> None:
    assert policy_id(service, port, alias) == identity


@pytest.mark.parametrize(
    ("key", "infix", "label"),
    [
        ("cart-tcp-8080", None, f"{N}/to-cart-tcp-8080"),
        ("cart-tcp-8080", "shop", f"{N}/to-shop-cart-tcp-8080"),
        ("all-scrape-targets", None, f"{N}/to-all-scrape-targets"),
        ("all-scrape-targets", "shop", f"{N}/to-shop-all-scrape-targets"),
        ("cart-tcp-8080", "", f"{N}/to--cart-tcp-8080"),
    ],
)
def test_pods_of_other_namespaces_name_the_namespace_in_their_label(key: str, infix: str | None, label: str) -> None:
    assert pod_label(key, infix) == label


def test_component_authors_ask_for_the_label_of_a_container_port() -> None:
    assert network_policy_label("foo", 1234) == f"{N}/to-foo-tcp-1234"
    assert network_policy_label("foo", "metrics", "UDP") == f"{N}/to-foo-udp-metrics"


@pytest.mark.parametrize("longest", [LONGEST_LABEL_NAME, LONGEST_POLICY_NAME])
def test_a_name_that_fits_stays_and_one_character_more_cuts_it(longest: int) -> None:
    fits = "n" * longest
    too_long = f"{fits}x"

    assert shortened(fits, longest) == fits
    assert shortened(too_long, longest) == f"{'n' * (longest - 6)}-{sha256(too_long.encode()).hexdigest()[:5]}"
    assert len(shortened(too_long, longest)) == longest


def test_a_label_is_cut_after_57_characters_of_its_name_and_tells_long_names_apart() -> None:
    one, other = (pod_label(f"{'s' * 60}-tcp-{port}") for port in (8080, 8081))

    assert one.startswith(f"{N}/to-{'s' * 54}-")
    assert len(one) == len(f"{N}/") + 63
    assert one != other
    assert label_key_problem(one) is None


def test_no_legal_name_is_too_long_for_a_policy() -> None:
    longest = policy_id("s" * 63, PolicyPort("SCTP", "p" * 15), "a" * 44)

    assert len(f"egress-to-{'n' * 63}-{longest}") <= LONGEST_POLICY_NAME
    assert len(f"ingress-to-{longest}-from-{'n' * 63}") <= LONGEST_POLICY_NAME
    assert dns_subdomain_problem(f"egress-to-{'n' * 63}-{longest}") is None


def test_names_that_no_api_server_takes_say_why() -> None:
    rule = (
        'must consist of a-z, 0-9, "-" and ".", each part between dots starting and ending with a letter or digit, '
        'for example "example.com"'
    )

    assert policy_name_problem("cart-tcp-80-via-All_Bars") == f'policy name "cart-tcp-80-via-All_Bars" {rule}'
    assert policy_name_problem("cart-tcp-80") is None
