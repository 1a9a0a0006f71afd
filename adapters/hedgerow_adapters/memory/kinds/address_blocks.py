"""What an IP address is, and what the API server says about a block of them in CIDR notation."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, invalid, required

_NO_BLOCK: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F:])0+(?=\d)")


def is_address(text: str) -> bool:
    """Whether a text is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def ip_block_errors(block: Manifest, path: str) -> Iterator[FieldError]:
    """Errors of an ipBlock: its CIDR, and exceptions that are not strictly inside of it."""
    written = block.get("cidr", "")
    if not written:
        yield required(f"{path}.cidr")
        return
    yield from _cidr_errors(written, f"{path}.cidr")
    whole = _network(written)
    if whole is None:
        return
    for index, exception in enumerate(block.get("except", ())):
        where = f"{path}.except[{index}]"
        yield from _cidr_errors(exception, where)
        part = _network(exception)
        if part is not None and not _strictly_inside(part, whole):
            yield invalid(where, exception, "must be a strict subset of `cidr`")


def _cidr_errors(written: str, path: str) -> Iterator[FieldError]:
    network = _network(written)
    if network is None:
        yield invalid(path, written, _NO_BLOCK)
        return
    if "." in written and _LEADING_ZEROS.search(written):
        yield invalid(path, written, "must not have leading 0s in IP or prefix length")
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        yield invalid(path, written, "must not have an IPv4-mapped IPv6 address")
    elif _has_host_bits(written):
        yield invalid(path, written, "must not have bits set beyond the prefix length")


def _network(written: str) -> IPv4Network | IPv6Network | None:
    """The network that is meant, read as leniently as the server does; none if there is none."""
    address, slash, length = _LEADING_ZEROS.sub("", written).partition("/")
    if not slash or not (length.isascii() and length.isdigit()) or "%" in address:
        return None
    try:
        return ip_network(f"{address}/{length}", strict=False)
    except ValueError:
        return None


def _has_host_bits(written: str) -> bool:
    try:
        ip_network(_LEADING_ZEROS.sub("", written), strict=True)
    except ValueError:
        return True
    return False


def _strictly_inside(part: IPv4Network | IPv6Network, whole: IPv4Network | IPv6Network) -> bool:
    return part.version == whole.version and part.network_address in whole and part.prefixlen > whole.prefixlen
