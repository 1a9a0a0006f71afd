"""What Networks must fulfil.

Source: webhooks-and-tokens §9.5.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.addresses import Family, Network, family_of, parse_network
from hedgerow.admission.extension_validation.checks import (
    FIELD_IS_REQUIRED,
    immutable,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.kind import Kind, extension
from hedgerow.admission.extension_validation.shape import TEXT
from hedgerow.machinery.failures import Problem, duplicate, invalid, shortened, unsupported
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.objects import Manifest

FAMILIES: Final = tuple(Family)
POD_CIDR: Final = "spec.podCIDR"
SERVICE_CIDR: Final = "spec.serviceCIDR"


def addressing(network: Manifest, _where: str) -> Iterator[Problem]:
    """One family of addresses, and ranges of it that do not overlap; ranges wait until the family is right."""
    families = [family or "" for family in value_at(network, "spec.ipFamilies") or ()]
    is_wrong = False
    for error in family_errors(families):
        is_wrong = True
        yield error
    if is_wrong:
        return
    primary = Family(families[0]) if families else Family.IPV4
    yield from range_errors({path: value_at(network, path) or "" for path in (POD_CIDR, SERVICE_CIDR)}, primary)


def family_errors(families: list[str]) -> Iterator[Problem]:
    """Families are known ones, each once, and only one for now."""
    known = True
    before: set[str] = set()
    for index, family in enumerate(families):
        path = f"spec.ipFamilies[{index}]"
        if family not in FAMILIES:
            known = False
            yield unsupported(path, family, FAMILIES)
        if family in before:
            known = False
            yield duplicate(path, family)
        before.add(family)
    if known and len(families) > 1:
        yield invalid("spec.ipFamilies", families, "dual-stack networking is not supported")


def range_errors(ranges: dict[str, str], primary: Family) -> Iterator[Problem]:
    """Both ranges are there, can be read, are of the family, and do not overlap: each asked of both in turn."""
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


NETWORK: Final[Kind] = extension(
    "networks",
    "Network",
    required("spec.type"),
    addressing,
    fields={"spec.ipFamilies[]": TEXT, POD_CIDR: TEXT, SERVICE_CIDR: TEXT},
    immutable_fields=(immutable(POD_CIDR), immutable(SERVICE_CIDR), immutable("spec.ipFamilies")),
)
