"""How IP addresses and networks are read in fields that name them.

Single addresses are read more leniently than Python reads them, networks more strictly.

Source: webhooks-and-tokens §9.4, §9.5.
"""

import re
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])")
_MAPPING_BITS: Final = 96
"""Those of an IPv6 address in front of the IPv4 address that it stands for."""
_BITS: Final = re.compile("0*([0-9]{1,3})")


class Family(StrEnum):
    """The two families of addresses."""

    IPV4 = "IPv4"
    IPV6 = "IPv6"


def parse_address(text: str) -> Address | None:
    """The address that a text spells; none if none. Octets and groups of digits may start with any number of zeros."""
    return _strict_address(_LEADING_ZEROS.sub("", text))


def parse_network(text: str) -> Network | None:
    """The network that a text spells, its host bits cleared; none if none. The length of the prefix must be there.

    An IPv4 network that is written as an IPv6 one (`::ffff:10.0.0.0/104`) is that IPv4 network.
    """
    before, _slash, behind = text.partition("/")
    address, bits = _strict_address(before), _BITS.fullmatch(behind)
    if address is None or bits is None or int(bits[1]) > address.max_prefixlen:
        return None
    network = ip_network((address, int(bits[1])), strict=False)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return network if mapped is None else IPv4Network((mapped, network.prefixlen - _MAPPING_BITS))


def family_of(address: Address) -> Family:
    """The family of an address; IPv4 addresses that are written as IPv6 ones (`::ffff:1.2.3.4`) stay IPv4."""
    is_ipv4 = isinstance(address, IPv4Address) or address.ipv4_mapped is not None
    return Family.IPV4 if is_ipv4 else Family.IPV6


def _strict_address(text: str) -> Address | None:
    """The address as Python reads it, except that one with a zone (`fe80::1%eth0`) is none."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None
