"""The names of policies and of pod labels."""

from hashlib import sha256

import pytest

from hedgerow.machinery.names import dns_subdomain_problem, label_key_problem
from hedgerow.resource_manager.network_policies import PolicyPort, network_policy_label, pod_label, policy_id
from hedgerow.resource_manager.network_policies.naming import (
    LONGEST_LABEL_NAME,
    LONGEST_POLICY_NAME,
    pod_label_problem,
    policy_name_problem,
    shortened,
)

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
    assert pod_label_problem(f"{N}/to-a/b") == 'must contain at most one "/", for example "example.com/MyName"'
    assert pod_label_problem(f"{N}/to-cart-tcp-80") is None
