"""Ranges of addresses: how a CIDR is read, and what of one range is left when others are taken out of it.

Knows nothing of policies and of where the ranges come from.

Source: network-and-nodes §3.5, §3.6, §3.9.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_interface
from typing import Final, NamedTuple

from hedgerow.machinery.remembering import remembered

_CIDR: Final = re.compile(r"[0-9a-fA-F:.]+/(?:0|[1-9][0-9]{0,2})")
_LONGEST_QUOTE: Final = 80


class UnknownRangeError(Exception):
    """Why a range of addresses is unknown, as one clause without a full stop."""


class Block(NamedTuple):
    """A range of addresses."""

    text: str
    """As it was written."""
    address: IPv4Address | IPv6Address
    """The address in front of the slash, host bits included."""
    network: IPv4Network | IPv6Network

    def contains(self, other: "Block") -> bool:
        """Whether another range lies in this one, or is the same."""
        return (
            self.network.version == other.network.version
            and self.network.prefixlen <= other.network.prefixlen
            and other.address in self.network
        )


@remembered
def _block(text: str) -> Block | None:
    if not _CIDR.fullmatch(text):
        return None
    try:
        interface = ip_interface(text)
    except ValueError:
        return None
    return Block(text, interface.ip, interface.network)


def parse_block(text: str) -> Block:
    """The range that a CIDR spells.

    Raises:
        UnknownRangeError: it spells none.
    """
    if (block := _block(text)) is None:
        raise UnknownRangeError(f'"{text[:_LONGEST_QUOTE]}" is no CIDR')
    return block


def parse_blocks(texts: Iterable[tuple[str, str]]) -> tuple[Block, ...]:
    """The ranges that several CIDRs spell, each CIDR behind what it is called.

    Raises:
        UnknownRangeError: some of them spell none; it names all of these.
    """
    blocks, problems = [], []
    for name, text in texts:
        try:
            blocks.append(parse_block(text))
        except UnknownRangeError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise UnknownRangeError("; ".join(problems))
    return tuple(blocks)


def except_blocks(parent: Block, candidates: Iterable[Block]) -> tuple[str, ...]:
    """Those ranges that lie strictly inside another one, as they were written and in their order."""
    return tuple(
        candidate.text
        for candidate in candidates
        if parent.contains(candidate) and candidate.network.prefixlen > parent.network.prefixlen
    )


def is_covered(parent: Block, candidates: Iterable[Block]) -> bool:
    """True if one of the candidates leaves nothing of the range."""
    return any(candidate.contains(parent) for candidate in candidates)


def offset_ip(block: Block, offset: int) -> str:
    """The address so many places after the first one of a range.

    Raises:
        UnknownRangeError: the range is too small.
    """
    network = block.network
    if offset >= network.num_addresses:
        raise UnknownRangeError(f'cannot compute IP with offset {offset} - subnet "{network}" too small')
    return str(network.network_address + offset)


def host_block(address: str) -> str:
    """The range that holds one address alone.

    Raises:
        UnknownRangeError: the text is no address, or one of a link.
    """
    try:
        parsed = ip_address(address)
    except ValueError as error:
        raise UnknownRangeError(f'"{address[:_LONGEST_QUOTE]}" is no IP address') from error
    if isinstance(parsed, IPv6Address) and parsed.scope_id:
        raise UnknownRangeError(f'"{address[:_LONGEST_QUOTE]}" is an IP address of one link only')
    return f"{parsed}/{parsed.max_prefixlen}"
