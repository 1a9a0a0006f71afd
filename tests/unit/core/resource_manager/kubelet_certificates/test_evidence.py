"""When another Node lists a name that a request is for."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.kubelet_certificates import CertificateRequest
from hedgerow.resource_manager.kubelet_certificates.evidence import Conflict, conflict
from tests.unit.core.resource_manager.kubelet_certificates.requests import CONTROLLER, USER, clusters, node

OWN = node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"))
TYPES = st.sampled_from(["Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS"])


def found(*nodes: Manifest, dns: Iterable[str] = (), ips: Iterable[str] = ()) -> Conflict | None:
    request = CertificateRequest(USER, ("system:nodes",), frozenset(dns), frozenset(ips))
    return conflict(request, clusters(nodes=nodes).snapshot(CONTROLLER))


def test_the_nodes_own_names_are_no_conflict() -> None:
    assert found(OWN, dns=["foo.bar"], ips=["1.2.3.4"]) is None


@pytest.mark.parametrize(
    ("asked_dns", "asked_ips", "listed", "name"),
    [
        ("foo.bar", "", "foo.bar", "foo.bar"),
        ("foo.bar", "", "FOO.bar.", "foo.bar"),
        ("FOO.bar", "", "foo.bar", "foo.bar"),
        ("", "1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4"),
        ("", "2001:db8:0::1", "2001:DB8::1", "2001:db8::1"),
        ("1.2.3.4", "", "1.2.3.4", "1.2.3.4"),
    ],
)
@given(address_type=TYPES)
def test_another_node_that_lists_the_same_name_in_any_spelling_and_type_is_a_conflict(
    asked_dns: str, asked_ips: str, listed: str, name: str, address_type: str
) -> None:
    other = node((address_type, listed), name="node-2")

    assert found(OWN, other, dns=filter(None, [asked_dns]), ips=filter(None, [asked_ips])) == Conflict(name, "node-2")


def test_the_name_of_another_node_counts_although_that_lists_no_address_yet() -> None:
    assert found(OWN, node(name="node-2"), dns=["node-2"]) == Conflict("node-2", "node-2")


def test_other_names_of_other_nodes_are_no_conflict() -> None:
    assert found(OWN, node(("InternalIP", "1.2.3.5"), name="node-2"), ips=["1.2.3.4"]) is None


def test_the_first_name_and_the_first_node_are_told() -> None:
    others = [node(("InternalIP", "1.2.3.4"), ("Hostname", "a"), name=name) for name in ("node-3", "node-2")]

    assert found(OWN, *others, dns=["b", "a"], ips=["1.2.3.4"]) == Conflict("1.2.3.4", "node-2")


def test_a_node_that_cannot_be_read_is_known_by_its_name_alone() -> None:
    broken = {**node(name="node-2"), "status": {"addresses": 7}}

    assert found(OWN, broken, ips=["1.2.3.4"]) is None
    assert found(OWN, broken, dns=["node-2"]) == Conflict("node-2", "node-2")
