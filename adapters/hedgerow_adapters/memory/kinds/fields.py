"""Fields that several kinds have: label selectors, conditions, IP addresses and blocks of them."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final

from hedgerow.machinery.names import label_key_problem, label_value_problem, port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, required
from hedgerow_adapters.memory.field_rules import by_field, checked, port_problem
from hedgerow_adapters.memory.shapes import nonzero_long, number, optional_text, text, text_map, texts, time

LABEL_SELECTOR: Final = {
    "matchLabels": text_map,
    "matchExpressions": [{"key": optional_text, "operator": optional_text, "values": texts}],
}


_label_key: Final = checked(label_key_problem)
_label_value: Final = checked(label_value_problem)


def label_errors(labels: Any, path: str) -> Iterator[FieldError]:
    """Errors of labels, or of what has to be equal to labels."""
    for key, value in (labels or {}).items():
        yield from _label_key(key, path)
        yield from _label_value(value, path)


def _requirement_errors(requirement: Manifest, path: str) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from _label_key(requirement.get("key", ""), f"{path}.key")
    for index, value in enumerate(values):
        yield from _label_value(value, f"{path}.values[{index}]")


label_selector_errors: Final = by_field({"matchLabels": label_errors, "matchExpressions[]": _requirement_errors})


CONDITIONS: Final = [
    {
        **dict.fromkeys(("type", "status"), optional_text),
        **dict.fromkeys(("reason", "message"), text),
        "lastTransitionTime": time,
        "observedGeneration": nonzero_long,
    }
]
ADDRESS: Final = {
    "ip": text,
    "hostname": text,
    "ports": [{"port": number, "protocol": optional_text, "error": optional_text}],
}
"""Of a load balancer."""


def named_port_problem(port: int | str) -> str | None:
    """What is wrong with a port by number or by name."""
    return port_name_problem(port) if isinstance(port, str) else port_problem(port)


def is_address(text: str) -> bool:
    """Whether a text is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F:])0+(?=\d)")


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
        if part is not None and not (
            part.version == whole.version and part.network_address in whole and part.prefixlen > whole.prefixlen
        ):
            yield invalid(where, exception, "must be a strict subset of `cidr`")


def _cidr_errors(written: str, path: str) -> Iterator[FieldError]:
    network = _network(written)
    if network is None:
        yield invalid(path, written, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")
        return
    if "." in written and _LEADING_ZEROS.search(written):
        yield invalid(path, written, "must not have leading 0s in IP or prefix length")
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        yield invalid(path, written, "must not have an IPv4-mapped IPv6 address")
    elif network.network_address != ip_address(_LEADING_ZEROS.sub("", written).partition("/")[0]):
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
