"""Under which names and IP addresses a Node is reached, and which of them its certificate has to hold.

Source: network-and-nodes §6.3; decision D-4; Kubernetes API, NodeAddress of core/v1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Self

from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError, objects_at, text_at


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
        """The addresses that a Node reports; a Hostname that is an IP address is one, as kubelets ask for it.

        Raises:
            UnreadableError: the Node has a shape that no API server stores.
        """
        hostnames = _addresses(node, "Hostname")
        ips = frozenset(name for name in hostnames if parsed_address(name))
        return cls(
            Names(hostnames - ips, _addresses(node, "InternalDNS", "ExternalDNS")),
            Names(canonical(_addresses(node, "InternalIP") | ips), canonical(_addresses(node, "ExternalIP"))),
        )


def canonical(addresses: Iterable[str]) -> frozenset[str]:
    """IP addresses in the one spelling of each; what is none stays as it is, and so equals none."""
    return frozenset(str(parsed_address(text) or text) for text in addresses)


def comparable(names: Iterable[str]) -> frozenset[str]:
    """Names and IP addresses in one spelling each: DNS ignores case and the dot at the end."""
    bare = (text.lower().rstrip(".") for text in names)
    return frozenset(str(parsed_address(text) or text) for text in bare)


def names_of(node: Manifest) -> frozenset[str]:
    """All under which a Node is known, its own name included; comparable, and none of a Node that cannot be read."""
    try:
        addresses = objects_at(node, "status", "addresses")
        return comparable((key_of(node).name, *(name for each in addresses if (name := text_at(each, "address")))))
    except UnreadableError:
        return comparable((key_of(node).name,))


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a text spells, IPv4 where it is mapped into IPv6; none if none."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return address
    # A zone has a meaning on one machine only, and no certificate can hold one.
    return None if address.scope_id is not None else address.ipv4_mapped or address


def _addresses(node: Manifest, *types: str) -> frozenset[str]:
    addresses = objects_at(node, "status", "addresses")
    return frozenset(text_at(each, "address") or "" for each in addresses if text_at(each, "type") in types)
