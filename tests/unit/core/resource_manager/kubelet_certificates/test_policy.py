"""What holds for every verdict, whatever is asked for and whatever a Node reports."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest, Evidence, NodeAddresses, denial_reason
from hedgerow.resource_manager.kubelet_certificates.policy import (
    CHECKS_OF_THE_REQUEST,
    CHECKS_WITH_THE_MACHINES,
    Network,
    canonical,
)
from tests.unit.core.resource_manager.kubelet_certificates.requests import USER, node
from tests.unit.orders import ORDERS

DNS_TYPES, IP_TYPES = ("Hostname", "InternalDNS", "ExternalDNS"), ("InternalIP", "ExternalIP")
DNS_NAMES = st.sampled_from(["a", "b", "a.b", "A", "1.2.3.4"])
IP_ADDRESSES = st.sampled_from(
    ["1.2.3.4", "1.2.3.5", "fd00::1", "fd00:0:0::1", "::ffff:1.2.3.4", "2001:DB8::1", "2001:db8::1"]
)
NONSENSE = st.sampled_from(["", "somewhere", "1.2.3", "fe80::1%eth0"])
ADDRESSES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(DNS_TYPES), DNS_NAMES),
        st.tuples(st.sampled_from(IP_TYPES), st.one_of(IP_ADDRESSES, NONSENSE)),
        st.tuples(st.just("Other"), DNS_NAMES),
    ),
    max_size=6,
)


@st.composite
def requests(draw: st.DrawFn) -> CertificateRequest:
    """Requests of the kubelet of node-1, most of them modest."""
    return CertificateRequest(
        "system:node:node-1",
        ("system:nodes",),
        frozenset(draw(st.sets(DNS_NAMES, max_size=4))),
        frozenset(draw(st.sets(IP_ADDRESSES, max_size=4))),
        frozenset(draw(st.sets(st.just("URI:https://a"), max_size=1))),
    )


def evidence(request: CertificateRequest, addresses: Sequence[tuple[str, str]]) -> Evidence:
    return Evidence(
        "system:node:node-1",
        request,
        frozenset({"system:nodes"}),
        node=NodeAddresses.of(node(*addresses)),
        machine_count=1,
    )


def host_ips(addresses: Sequence[tuple[str, str]]) -> set[str]:
    """The Hostnames that are IP addresses."""
    return {name for name in values(addresses, "Hostname") if parsed({name}) != {name}}


def values(addresses: Sequence[tuple[str, str]], *types: str) -> set[str]:
    return {address for address_type, address in addresses if address_type in types}


def parsed(texts: set[str] | frozenset[str]) -> set[IPv4Address | IPv6Address | str]:
    """IP addresses of the Node in the way that tells them apart; what is none stays a text."""

    def one(text: str) -> IPv4Address | IPv6Address | str:
        try:
            address = ip_address(text)
        except ValueError:
            return text
        return getattr(address, "ipv4_mapped", None) or (text if "%" in text else address)

    return set(map(one, texts))


@given(requests(), ADDRESSES)
def test_a_certificate_holds_every_name_that_it_has_to_and_none_that_it_may_not(
    request: CertificateRequest, addresses: list[tuple[str, str]]
) -> None:
    dns, ips, host_addresses = request.dns_names, parsed(request.ip_addresses), host_ips(addresses)
    names = values(addresses, "Hostname") - host_addresses
    is_right = (
        bool(dns or ips)
        and names <= dns <= names | values(addresses, "InternalDNS", "ExternalDNS")
        and parsed(values(addresses, "InternalIP") | host_addresses) <= ips
        and ips <= parsed(values(addresses, *IP_TYPES) | host_addresses)
        and not request.other_names
    )

    assert (denial_reason(evidence(request, addresses)) is None) is is_right


@given(requests(), ADDRESSES, ORDERS)
def test_neither_order_nor_repetition_matters(
    request: CertificateRequest, addresses: list[tuple[str, str]], random: Any
) -> None:
    shuffled = [*addresses, *addresses[:2]]
    random.shuffle(shuffled)

    assert denial_reason(evidence(request, shuffled)) == denial_reason(evidence(request, addresses))


@given(ADDRESSES)
def test_a_kubelet_may_ask_for_everything_that_its_node_reports(addresses: list[tuple[str, str]]) -> None:
    host_addresses = host_ips(addresses)
    dns = values(addresses, "Hostname") - host_addresses | values(addresses, "InternalDNS", "ExternalDNS")
    ips = {text for text in values(addresses, *IP_TYPES) if parsed({text}) != {text}} | host_addresses
    request = CertificateRequest("system:node:node-1", ("system:nodes",), frozenset(dns), frozenset(ips))

    denied = denial_reason(evidence(request, addresses)) is not None

    is_wrong = any(isinstance(address, str) for address in parsed(values(addresses, "InternalIP")))
    assert denied is (is_wrong or not (dns or ips))


@given(requests(), ADDRESSES, st.integers(0, 3), st.text(max_size=5), st.text(max_size=5))
def test_nobody_but_the_kubelet_of_a_node_with_one_machine_gets_anything(
    request: CertificateRequest, addresses: list[tuple[str, str]], machines: int, username: str, group: str
) -> None:
    good = evidence(request, addresses)
    others = [
        replace(good, username=username),
        replace(good, username=f"system:node:{username}"),
        replace(good, groups=frozenset({group})),
        replace(good, request=replace(request, organizations=(group,))),
        replace(good, request=replace(request, organizations=("system:nodes", group))),
        replace(good, node=None),
        replace(good, machine_count=machines if machines != 1 else 0),
    ]

    assert None not in map(denial_reason, others)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8:0::0:1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("010.0.0.1", "010.0.0.1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("::ffff:10.0.0.1%eth0", "::ffff:10.0.0.1%eth0"),
        ("somewhere", "somewhere"),
        ("", ""),
    ],
)
def test_an_ip_address_has_one_spelling_and_other_texts_stay_as_they_are(text: str, spelled: str) -> None:
    assert canonical([text]) == {spelled}


NETWORKS: tuple[Network, ...] = (ip_network("100.64.0.0/13"), ip_network("fd00:10::/108"))
RESERVED_NAMES = {
    "foo.svc": "a name of Services",
    "foo.default.svc": "a name of Services",
    "foo.default.svc.cluster.local": "a name of Services",
    "a.svc-mesh.example.com": "a name of Services",
    "kubernetes": "a name of the API server",
    "kubernetes.default": "a name of the API server",
    "localhost": "a name of every machine",
    "localhost.localdomain": "a name of every machine",
    "a.localhost": "a name of every machine",
    "*.example.com": "a wildcard",
    "*": "a wildcard",
}
RESERVED_ADDRESSES = {
    "127.0.0.1": "a loopback address",
    "127.8.8.8": "a loopback address",
    "::1": "a loopback address",
    "0.0.0.0": "the unspecified address",  # noqa: S104 -- nothing listens here
    "::": "the unspecified address",
    "224.0.0.1": "a multicast address",
    "ff02::1": "a multicast address",
    "169.254.169.254": "a link-local address",
    "fe80::1": "a link-local address",
}
FREE_NAMES = ("worker-1", "svc.example.com", "my-kubernetes.example.com", "worker.kubernetes.example.com", "localhosts")


def denied(
    *, dns: frozenset[str] = frozenset(), ips: frozenset[str] = frozenset(), networks: tuple[Network, ...] = ()
) -> str | None:
    """Why the kubelet of a Node does not get what its Node lists; none if nothing about the names is reserved."""
    request = CertificateRequest(USER, ("system:nodes",), dns, ips)
    addresses = [*(("Hostname", name) for name in dns), *(("InternalIP", address) for address in ips)]
    listed = NodeAddresses.of(node(*addresses))
    evidence = Evidence(USER, request, frozenset({"system:nodes"}), networks, node=listed, machine_count=1)
    return denial_reason(evidence)


@pytest.mark.parametrize(("name", "what"), RESERVED_NAMES.items())
@pytest.mark.parametrize("spell", [str, str.upper, "{}.".format], ids=["as-it-is", "upper-case", "with-a-dot-behind"])
def test_a_reserved_name_is_denied_however_it_is_spelled(name: str, what: str, spell: type[str]) -> None:
    assert denied(dns=frozenset({spell(name)})) == f'"{name}" in CSR is {what}'


@pytest.mark.parametrize(("address", "what"), RESERVED_ADDRESSES.items())
def test_a_reserved_address_is_denied(address: str, what: str) -> None:
    assert denied(ips=frozenset({address})) == f'"{address}" in CSR is {what}'


def test_a_reserved_ipv4_address_is_denied_where_it_is_mapped_into_ipv6() -> None:
    assert denied(ips=frozenset({"::ffff:127.0.0.1"})) == '"127.0.0.1" in CSR is a loopback address'


@pytest.mark.parametrize(("address", "what"), RESERVED_ADDRESSES.items())
def test_a_reserved_address_is_denied_as_a_name(address: str, what: str) -> None:
    request = CertificateRequest(USER, ("system:nodes",), frozenset({address}))
    evidence = Evidence(USER, request, frozenset({"system:nodes"}))

    assert denial_reason(evidence, CHECKS_OF_THE_REQUEST) == f'"{address}" in CSR is {what}'


@pytest.mark.parametrize("name", FREE_NAMES)
def test_a_name_that_only_resembles_a_reserved_one_is_free(name: str) -> None:
    assert denied(dns=frozenset({name})) is None


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("100.64.0.1", "100.64.0.0/13"),
        ("100.71.255.255", "100.64.0.0/13"),
        ("::ffff:100.64.0.1", "100.64.0.0/13"),
        ("FD00:10::3", "fd00:10::/108"),
        ("100.72.0.0", None),
        ("fd00:11::", None),
        ("10.0.0.1", None),
    ],
)
def test_an_address_in_a_service_network_is_denied(address: str, network: str | None) -> None:
    reason = denied(ips=frozenset({address}), networks=NETWORKS)

    assert (reason is None) is (network is None)
    assert network is None or (reason or "").endswith(f"in CSR is in the service network {network}")


@given(
    st.sets(st.sampled_from([*FREE_NAMES, *RESERVED_NAMES])),
    st.sets(st.sampled_from(["10.1.2.3", "fd00::9", *RESERVED_ADDRESSES])),
)
def test_one_reserved_name_among_many_is_enough(dns: set[str], ips: set[str]) -> None:
    is_reserved = bool(dns & RESERVED_NAMES.keys() or ips & RESERVED_ADDRESSES.keys())

    reason = denied(dns=frozenset(dns), ips=frozenset(ips)) if dns or ips else None

    assert (reason is not None) is is_reserved


def test_names_are_never_compared_with_those_of_a_node_that_is_not_there() -> None:
    request = CertificateRequest(USER, ("system:nodes",), frozenset({"a"}), frozenset(), frozenset())

    with pytest.raises(ValueError, match="the check that the Node exists comes first"):
        denial_reason(replace(evidence(request, ()), node=None), CHECKS_WITH_THE_MACHINES)
