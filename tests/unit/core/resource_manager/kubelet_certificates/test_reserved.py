"""Names and addresses for which no kubelet gets a certificate, although its Node lists them."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest, Evidence, NodeAddresses, denial_reason
from hedgerow.resource_manager.kubelet_certificates.policy import CHECKS_OF_THE_REQUEST
from hedgerow.resource_manager.kubelet_certificates.reserved import Network
from tests.unit.core.resource_manager.kubelet_certificates.requests import USER, node

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
