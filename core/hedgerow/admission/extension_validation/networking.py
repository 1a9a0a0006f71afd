"""The rules for names and addresses: domains, IP addresses, networks.

Single addresses are read more leniently than Python reads them, networks more strictly.

Source: webhooks-and-tokens §9.4, §9.5.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from hedgerow.admission.extension_validation.checks import FIELD_IS_REQUIRED, value_at
from hedgerow.machinery.failures import Problem, duplicate, invalid, shortened, unsupported
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

POD_CIDR: Final = "spec.podCIDR"
SERVICE_CIDR: Final = "spec.serviceCIDR"
LONGEST_LABEL: Final = 63
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])")
_MAPPING_BITS: Final = 96
"""In front of the IPv4 address in an IPv6 address."""
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


def domain_errors(path: str, name: str) -> Iterator[Problem]:
    """A name is a domain of two labels or more, perhaps with a dot at its end. The first long label is the error."""
    if not name:
        yield missing(path)
        return
    name = name.removesuffix(".")
    labels = name.split(".")
    if problem := dns_subdomain_problem(name):
        yield invalid(path, name, problem)
    elif len(labels) == 1:
        yield invalid(path, name, "should be a domain with at least two segments separated by dots")
    elif label := next((label for label in labels if len(label) > LONGEST_LABEL), ""):
        yield invalid(path, label, f"must be no more than {LONGEST_LABEL} characters")


def name_is_domain(record: Manifest, _where: str) -> Iterator[Problem]:
    """The name is a domain, or a wildcard directly below one."""
    yield from domain_errors("spec.name", (value_at(record, "spec.name") or "").removeprefix("*."))


def single_alias(record: Manifest, _where: str) -> Iterator[Problem]:
    """A name is an alias of one other name only."""
    values = value_at(record, "spec.values") or ()
    if value_at(record, "spec.recordType") == "CNAME" and len(values) > 1:
        yield invalid("spec.values", values, "CNAME records must have a single value")


def values_fit_record_type(record: Manifest, _where: str) -> Iterator[Problem]:
    """Values are addresses of the family, or domains, as the type of the record says; other texts may be anything."""
    record_type = value_at(record, "spec.recordType")
    family = {"A": Family.IPV4, "AAAA": Family.IPV6}.get(record_type)
    for index, value in enumerate(value_at(record, "spec.values") or ()):
        path, text = f"spec.values[{index}]", value or ""
        if record_type == "CNAME":
            yield from domain_errors(path, text)
        elif family and ((address := parse_address(text)) is None or family_of(address) is not family):
            yield invalid(path, text, f"must be a valid {family} address")


def addressing(network: Manifest, _where: str) -> Iterator[Problem]:
    """One family of addresses, and ranges of it that do not overlap; ranges are checked once the family is right."""
    families = [family or "" for family in value_at(network, "spec.ipFamilies") or ()]
    has_errors = False
    for error in family_errors(families):  # there may be very many
        has_errors = True
        yield error
    if not has_errors:
        primary = Family(families[0]) if families else Family.IPV4
        yield from range_errors({path: value_at(network, path) or "" for path in (POD_CIDR, SERVICE_CIDR)}, primary)


def family_errors(families: list[str]) -> Iterator[Problem]:
    """Families are known ones, each once, and only one for now."""
    before: set[str] = set()
    for index, family in enumerate(families):
        path = f"spec.ipFamilies[{index}]"
        if family not in tuple(Family):
            yield unsupported(path, family, tuple(Family))
        if family in before:
            yield duplicate(path, family)
        before.add(family)
    if len(before) == len(families) > 1 and before <= {*Family}:
        yield invalid("spec.ipFamilies", families, "dual-stack networking is not supported")


def range_errors(ranges: dict[str, str], primary: Family) -> Iterator[Problem]:
    """Both ranges are there, can be read, are of the family, and do not overlap; each rule looks at both in turn."""
    yield from (missing(path, FIELD_IS_REQUIRED) for path, text in ranges.items() if not text)
    parsed: dict[str, Network] = {}
    for path, text in ranges.items():
        if network := parse_network(text):
            parsed[path] = network
        elif text:
            yield invalid(path, text, f"invalid CIDR address: {shortened(text)}")
    for path, network in parsed.items():
        address = network.network_address
        if family_of(address) is not primary:
            yield invalid(path, str(address), f"must be a valid {primary} address")
    if len(parsed) == len(ranges) and parsed[SERVICE_CIDR].overlaps(parsed[POD_CIDR]):
        detail = f'must not overlap with "{POD_CIDR}" ("{shortened(ranges[POD_CIDR])}")'
        yield invalid(SERVICE_CIDR, ranges[SERVICE_CIDR], detail)
