"""Names and IP addresses that no kubelet gets a certificate for, although its Node lists them.

A kubelet writes the addresses of its Node itself. A name that means the API server, a Service, or every machine would
make it somebody else.

Source: decision D-4; Kubernetes documentation, "DNS for Services and Pods"; RFC 6761 §6.3.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network
from typing import Final, TypeAlias

from hedgerow.resource_manager.kubelet_certificates.addresses import parsed_address

Network: TypeAlias = IPv4Network | IPv6Network

_ADDRESSES: Final = (
    ("is_loopback", "a loopback address"),
    ("is_unspecified", "the unspecified address"),
    ("is_multicast", "a multicast address"),
    ("is_link_local", "a link-local address"),
)
"""Kubelets refuse them as addresses of their Node, too."""


def reserved_name(name: str) -> str | None:
    """What a comparable DNS name means instead of a Node; none if it may be the name of one."""
    labels = name.split(".")
    if "*" in name:
        return "a wildcard"
    if ".svc" in name:
        return "a name of Services"
    if labels[0] == "kubernetes":
        return "a name of the API server"
    return "a name of every machine" if "localhost" in {labels[0], labels[-1]} else None


def reserved_address(text: str) -> str | None:
    """What an IP address means instead of a Node, wherever it is; none if it may be that of one, or is none."""
    address = parsed_address(text)
    return next((what for attribute, what in _ADDRESSES if address and getattr(address, attribute)), None)


def service_network(text: str, networks: Iterable[Network]) -> Network | None:
    """The service network in which an IP address is; none if it is in none, or no address."""
    address = parsed_address(text)
    return next((each for each in networks if address and address in each), None)
