"""What DNSRecords must fulfil.

Source: webhooks-and-tokens §9.4.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.addresses import Family, family_of, parse_address
from hedgerow.admission.extension_validation.checks import (
    immutable,
    not_empty_if_present,
    not_negative_if_present,
    one_of,
    required,
    value_at,
)
from hedgerow.admission.extension_validation.kind import Kind, extension
from hedgerow.admission.extension_validation.shape import INTEGER, TEXT
from hedgerow.machinery.failures import Problem, invalid
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest

RECORD_TYPES: Final = ("A", "AAAA", "CNAME", "TXT")
LONGEST_LABEL: Final = 63


def domain_errors(path: str, name: str) -> Iterator[Problem]:
    """A name must be a domain of two labels or more; a dot at its end is allowed. Of long labels the first is told."""
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
    """Values are addresses of the family, or domains, as the type of the record says; texts may be anything."""
    record_type = value_at(record, "spec.recordType")
    for index, value in enumerate(value_at(record, "spec.values") or ()):
        path, text = f"spec.values[{index}]", value or ""
        if record_type == "A":
            yield from _address_errors(path, text, Family.IPV4)
        elif record_type == "AAAA":
            yield from _address_errors(path, text, Family.IPV6)
        elif record_type == "CNAME":
            yield from domain_errors(path, text)


def _address_errors(path: str, text: str, family: Family) -> Iterator[Problem]:
    address = parse_address(text)
    if address is None or family_of(address) is not family:
        yield invalid(path, text, f"must be a valid {family} address")


DNS_RECORD: Final[Kind] = extension(
    "dnsrecords",
    "DNSRecord",
    required("spec.type"),
    required("spec.secretRef.name"),
    not_empty_if_present("spec.region"),
    not_empty_if_present("spec.zone"),
    name_is_domain,
    one_of("spec.recordType", RECORD_TYPES),
    required("spec.values"),
    single_alias,
    values_fit_record_type,
    not_negative_if_present("spec.ttl"),
    fields={
        "spec.secretRef.name": TEXT,
        "spec.region": TEXT,
        "spec.zone": TEXT,
        "spec.name": TEXT,
        "spec.recordType": TEXT,
        "spec.values[]": TEXT,
        "spec.ttl": INTEGER,
    },
    immutable_fields=(immutable("spec.name"), immutable("spec.recordType")),
)
