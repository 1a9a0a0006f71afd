"""Ranges of addresses: how a CIDR is read, and what of one range is left when others are taken out of it.

Knows nothing of policies and of where the ranges come from.

Source: network-and-nodes §3.5, §3.6, §3.9.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_interface
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.machinery.remembering import remembered

_CIDR: Final = re.compile(r"[0-9a-fA-F:.]+/(?:0|[1-9][0-9]{0,2})")
_LONGEST_QUOTE: Final = 80


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
def parse_block(text: str) -> Result[Block, str]:
    """The range that a CIDR spells; or why it is none, as one clause."""
    try:
        if not _CIDR.fullmatch(text):
            return Failure(_no_block(text))
        interface = ip_interface(text)
    except ValueError:
        return Failure(_no_block(text))
    return Success(Block(text, interface.ip, interface.network))


def _no_block(text: str) -> str:
    return f'"{text[:_LONGEST_QUOTE]}" is no CIDR'


def parse_blocks(texts: Iterable[tuple[str, str]]) -> Result[tuple[Block, ...], str]:
    """The ranges that several CIDRs spell; or all that is wrong with them.

    Args:
        texts: each CIDR behind what it is called.
    """
    parsed = [(name, parse_block(text)) for name, text in texts]
    if problems := [f"{name}: {each.failure()}" for name, each in parsed if isinstance(each, Failure)]:
        return Failure("; ".join(problems))
    return Success(tuple(each.unwrap() for _, each in parsed))


def except_blocks(parent: Block, candidates: Iterable[Block]) -> tuple[str, ...]:
    """Those of some ranges that lie strictly inside another one, as they were written and in their order."""
    return tuple(
        candidate.text
        for candidate in candidates
        if parent.contains(candidate) and candidate.network.prefixlen > parent.network.prefixlen
    )


def is_covered(parent: Block, candidates: Iterable[Block]) -> bool:
    """Whether one of some ranges leaves nothing of another one."""
    return any(candidate.contains(parent) for candidate in candidates)


def offset_ip(network: Block, offset: int) -> Result[str, str]:
    """The address so many places after the first one of a range; or why there is none."""
    if offset >= network.network.num_addresses:
        return Failure(f'cannot compute IP with offset {offset} - subnet "{network.network}" too small')
    return Success(str(network.network.network_address + offset))


def host_block(address: str) -> Result[str, str]:
    """The range that holds one address alone; or why the text is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return Failure(f'"{address[:_LONGEST_QUOTE]}" is no IP address')
    if isinstance(parsed, IPv6Address) and parsed.scope_id:
        return Failure(f'"{address[:_LONGEST_QUOTE]}" is an IP address of one link only')
    return Success(f"{parsed}/{parsed.max_prefixlen}")


def host_blocks(addresses: Iterable[str]) -> Result[Sequence[str], str]:
    """The ranges of some addresses, each once; or what is wrong with the first that is none."""
    blocks: dict[str, None] = {}
    for address in addresses:
        match host_block(address):
            case Success(block):
                blocks[block] = None
            case Failure() as failure:
                return failure
    return Success(tuple(blocks))
