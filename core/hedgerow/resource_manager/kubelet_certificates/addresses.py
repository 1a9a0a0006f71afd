"""Under which names and IP addresses a Node is reached, and which of them its certificate has to hold.

Source: network-and-nodes §6.3; decision D-4; Kubernetes API, NodeAddress of core/v1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Self

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import objects_at, text_at


@dataclass(frozen=True, slots=True)
class Names:
    """Names of one kind, or addresses: those that a certificate has to hold, and those that it may hold as well."""

    required: frozenset[str]
    further: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeAddresses:
    """Everything under which a Node is reached."""

    dns: Names
    ip: Names
    """In canonical spelling."""

    @classmethod
    def of(cls, node: Manifest) -> Self:
        """The addresses that a Node reports.

        Raises:
            UnreadableError: the Node has a shape that no API server stores.
        """
        return cls(
            Names(_addresses(node, "Hostname"), _addresses(node, "InternalDNS", "ExternalDNS")),
            Names(canonical(_addresses(node, "InternalIP")), canonical(_addresses(node, "ExternalIP"))),
        )


def canonical(addresses: Iterable[str]) -> frozenset[str]:
    """IP addresses in the one spelling of each; what is none stays as it is, and so equals none."""
    return frozenset(map(_canonical, addresses))


def _canonical(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    # A zone has a meaning on one machine only, and no certificate can hold one.
    return text if address.scope_id is not None else str(address.ipv4_mapped or address)


def _addresses(node: Manifest, *types: str) -> frozenset[str]:
    addresses = objects_at(node, "status", "addresses")
    return frozenset(text_at(each, "address") or "" for each in addresses if text_at(each, "type") in types)
