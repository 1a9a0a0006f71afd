"""Verdicts on requests of kubelets against the conditions that the reference appended.

Where it denied because of names or addresses, they are judged here by the rule that is ours: every Hostname and every
InternalIP has to be there, and whatever else is there has to be another address of the Node.

The recordings leave the groups of users out. The reference does not look at them, and here a kubelet has to be in that
of Nodes: everybody is taken to be in it.
"""

from base64 import b64decode
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import pytest
from cryptography import x509

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, NODES, SERVICES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import key_of
from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
from hedgerow_adapters.certificate_requests import decoded_request
from tests.golden.reference.recordings import cases
from tests.unit.core.resource_manager.turns import Clusters, take_turn

DENIED_BY_ADDRESSES = "in CSR do not match addresses of type"


@pytest.mark.parametrize("recording", [*cases("certificate-signing-requests.jsonl")])
def test_the_same_requests_are_approved_and_denied(recording: Mapping[str, Any]) -> None:
    controller = kubelet_csr_approver(KubeletCertificateConfig(decoded_request, recording["machineNamespace"]))
    csr = {"status": {}, **recording["csr"]}
    csr["spec"] = {"groups": ["system:nodes"], **csr["spec"]}
    watch = controller.watches[0]
    of = {kind: [each for each in recording["objects"] if each["kind"] == kind] for kind in ("Node", "Machine")}
    world = Clusters.of(
        target={CERTIFICATE_SIGNING_REQUESTS: [csr] if watch.reads(csr) else [], NODES: of["Node"], SERVICES: []},
        source={MACHINES: of["Machine"]},
    )

    course = take_turn(world, controller, key_of(csr))

    assert not course.end.failures
    stored = world.objects(Cluster.TARGET)[CERTIFICATE_SIGNING_REQUESTS].get(key_of(csr), csr)
    assert [each["type"] for each in stored["status"].get("conditions", ())] == expected(recording)


def expected(recording: Mapping[str, Any]) -> list[str]:
    recorded = recording["conditions"]
    by_addresses = any(DENIED_BY_ADDRESSES in condition["message"] for condition in recorded)
    return ["Approved"] if by_addresses and is_right(recording) else [condition["type"] for condition in recorded]


def is_right(recording: Mapping[str, Any]) -> bool:
    """Whether the names that are asked for are right by our rule."""
    (node,) = (each for each in recording["objects"] if each["kind"] == "Node")
    addresses: dict[str, set[str]] = {}
    for each in node.get("status", {}).get("addresses", ()):
        addresses.setdefault(each["type"], set()).add(each["address"])
    csr = x509.load_pem_x509_csr(b64decode(recording["csr"]["spec"]["request"]))
    names = csr.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    dns, ips = set(names.get_values_for_type(x509.DNSName)), set(map(plain, names.get_values_for_type(x509.IPAddress)))
    hosts, inside = addresses.get("Hostname", set()), set(map(plain, addresses.get("InternalIP", ())))
    return (
        hosts <= dns <= hosts | addresses.get("InternalDNS", set()) | addresses.get("ExternalDNS", set())
        and inside <= ips <= inside | set(map(plain, addresses.get("ExternalIP", ())))
        and len(dns) + len(ips) > 0
    )


def plain(address: Any) -> IPv4Address | IPv6Address:
    parsed = ip_address(address)
    return getattr(parsed, "ipv4_mapped", None) or parsed
