"""The rules that no table can state: names and addresses, files, machines, backups of Etcds.

Single addresses are read more leniently than Python reads them, networks more strictly.

Source: webhooks-and-tokens §9.4 to §9.8.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from hedgerow.admission.extension_validation.checks import (
    FIELD_IS_REQUIRED,
    all_of,
    below,
    immutable,
    one_of,
    required,
    value_at,
)
from hedgerow.machinery.failures import Problem, duplicate, invalid, invalid_unshown, shortened, unsupported
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.names import dns_subdomain_problem, label_key_problem
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.scalars import parse_quantity

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

POD_CIDR: Final = "spec.podCIDR"
SERVICE_CIDR: Final = "spec.serviceCIDR"
_LONGEST_LABEL: Final = 63
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])")
_MAPPING_BITS: Final = 96
"""In front of the IPv4 address in an IPv6 address."""
_BITS: Final = re.compile("0*([0-9]{1,3})")

_OF_SECRET_REF: Final = (required("content.secretRef.name"), required("content.secretRef.dataKey"))
_ENCODING: Final = one_of(("", "b64", "gzip", "gzip+b64"))
_OF_INLINE: Final = (_ENCODING("content.inline.encoding"), required("content.inline.data"))
_COUNTED_RESOURCES: Final = frozenset(
    {"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims"}
    | {"services.nodeports", "services.loadbalancers"}
)
"""Resources of Kubernetes itself that are counted, not measured."""
_STORE: Final = "spec.backup.store"
PREFIX: Final = f"{_STORE}.prefix"
PROVIDER: Final = f"{_STORE}.provider"
_PROVIDERS: Final = frozenset(
    {"aws", "S3", "azure", "ABS", "alicloud", "OSS", "openstack", "Swift", "gcp", "GCS"}
    | {"dell", "ECS", "openshift", "OCS", "Local", "local"}
)
_prefix_is_immutable: Final = immutable(PREFIX)


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


def name_is_domain(record: Manifest, _where: str) -> Iterator[Problem]:
    """The name of a DNSRecord is a domain, or a wildcard directly below one."""
    yield from _domain_errors("spec.name", (value_at(record, "spec.name") or "").removeprefix("*."))


def _domain_errors(path: str, name: str) -> Iterator[Problem]:
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
    elif label := next((label for label in labels if len(label) > _LONGEST_LABEL), ""):
        yield invalid(path, label, f"must be no more than {_LONGEST_LABEL} characters")


def values_fit_record_type(record: Manifest, _where: str) -> Iterator[Problem]:
    """Values are addresses of the family, or one domain, as the type of the record says; others may be anything."""
    record_type, values = value_at(record, "spec.recordType"), value_at(record, "spec.values") or ()
    if record_type == "CNAME" and len(values) > 1:
        yield invalid("spec.values", values, "CNAME records must have a single value")
    family = {"A": Family.IPV4, "AAAA": Family.IPV6}.get(record_type)
    for index, value in enumerate(values):
        path, text = f"spec.values[{index}]", value or ""
        if record_type == "CNAME":
            yield from _domain_errors(path, text)
        elif family and ((address := parse_address(text)) is None or family_of(address) is not family):
            yield invalid(path, text, f"must be a valid {family} address")


def addressing(network: Manifest, _where: str) -> Iterator[Problem]:
    """A Network has one family of addresses, and ranges of it that do not overlap; these are checked second."""
    families = [family or "" for family in value_at(network, "spec.ipFamilies") or ()]
    errors = _family_errors(families)
    if first := next(errors, None):
        yield first
        yield from errors
    else:
        primary = Family(families[0]) if families else Family.IPV4
        yield from _range_errors({path: value_at(network, path) or "" for path in (POD_CIDR, SERVICE_CIDR)}, primary)


def _family_errors(families: list[str]) -> Iterator[Problem]:
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


def _range_errors(ranges: dict[str, str], primary: Family) -> Iterator[Problem]:
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


def files(config: Manifest, _where: str) -> Iterator[Problem]:
    """Every file of an OperatingSystemConfig is complete, and none is written twice."""
    paths: set[str] = set()
    for index, item in enumerate(value_at(config, "spec.files") or ()):
        file, where = item or {}, f"spec.files[{index}]"
        path = value_at(file, "path")
        if path in paths:
            yield duplicate(below(where, "path"), path)
        yield from all_of((required("path"), _content), file, where)
        if path:
            paths.add(path)


def _content(file: Manifest, where: str) -> Iterator[Problem]:
    """The content of a file comes from exactly one of two sources, which is complete."""
    from_secret = value_at(file, "content.secretRef") is not None
    from_inline = value_at(file, "content.inline") is not None
    path, detail = below(where, "content"), "either 'secretRef' or 'inline' must be provided"
    if from_secret and from_inline:
        yield invalid_unshown(path, f"{detail}, not both at the same time")
    elif not from_secret and not from_inline:
        yield missing(path, detail)
    else:
        yield from all_of(_OF_SECRET_REF if from_secret else _OF_INLINE, file, where)


def capacity(pool: Manifest, where: str) -> Iterator[Problem]:
    """A machine has no negative amounts, and whole numbers of counted resources."""
    amounts = value_at(pool, "nodeTemplate.capacity") or {}
    for resource in sorted(amounts):
        path, amount = below(where, f"nodeTemplate.capacity.{resource}"), amounts[resource]
        quantity = parse_quantity(0 if amount is None else amount).unwrap()
        if quantity.significand < 0:
            yield invalid(path, amount, "must be greater than or equal to 0")
        if is_counted(resource) and not quantity.is_whole:
            yield invalid(path, amount, "must be an integer")


def is_counted(resource: str) -> bool:
    """True if there can only be a whole number of a resource; extended ones such as `nvidia.com/gpu` are counted."""
    own = "/" not in resource or "kubernetes.io/" in resource or resource.startswith("requests.")
    return resource in _COUNTED_RESOURCES or (not own and label_key_problem(f"requests.{resource}") is None)


def _has_store(etcd: Manifest) -> bool:
    """True if backups are stored; an empty store is one."""
    return value_at(etcd, _STORE) is not None


def prefix_names_etcd(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """The prefix of backups differs from that of any other Etcd."""
    prefix = value_at(etcd, PREFIX) or ""
    if _has_store(etcd) and not all(part in prefix for part in key_of(etcd)):
        yield invalid(PREFIX, prefix, "must contain object name and namespace")


def prefix_stays(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """The prefix of backups stays while there is a store."""
    if _has_store(new) and _has_store(old):
        yield from _prefix_is_immutable(new, old)


def provider_is_supported(etcd: Manifest, _where: str) -> Iterator[Problem]:
    """The provider of the store, if there is one, can hold backups of Etcds."""
    provider = value_at(etcd, PROVIDER)
    if provider and provider not in _PROVIDERS:
        yield invalid(PROVIDER, provider, f"unsupported storage provider: {shortened(provider)}")
