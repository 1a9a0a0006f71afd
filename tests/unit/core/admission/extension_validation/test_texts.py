"""What each rule of DNSRecords, Networks and Etcds says, word for word."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.admission.extension_validation import validate_create, validate_update
from tests.unit.core.admission.extension_validation.objects import sample

LONG = "a" * 64
TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
NO_SUBDOMAIN = (
    'must consist of a-z, 0-9, "-" and ".", each part between dots starting and ending with a letter or digit, '
    'for example "example.com"'
)
NO_ADDRESS = "spec.values[0]: Invalid value: {0}: must be a valid {1} address"
IMMUTABLE = "field is immutable"


def texts(kind: str, spec: Mapping[str, Any]) -> list[str]:
    return [*map(str, validate_create(kind, sample(kind, **spec)))]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": ""}, ["spec.type: Required value: field is required"]),
        ({"secretRef": {}}, ["spec.secretRef.name: Required value: field is required"]),
        ({"region": ""}, ['spec.region: Invalid value: "": field cannot be empty if specified']),
        ({"zone": ""}, ['spec.zone: Invalid value: "": field cannot be empty if specified']),
        ({"region": None, "zone": None}, []),
        ({"name": ""}, ["spec.name: Required value"]),
        ({"name": "*."}, ["spec.name: Required value"]),
        ({"name": "*"}, [f'spec.name: Invalid value: "*": {NO_SUBDOMAIN}']),
        ({"name": "A.example.com"}, [f'spec.name: Invalid value: "A.example.com": {NO_SUBDOMAIN}']),
        ({"name": "_acme.example.com"}, [f'spec.name: Invalid value: "_acme.example.com": {NO_SUBDOMAIN}']),
        (
            {"name": "com."},
            ['spec.name: Invalid value: "com": should be a domain with at least two segments separated by dots'],
        ),
        ({"name": f"{LONG}.com"}, [f'spec.name: Invalid value: "{LONG}": must be no more than 63 characters']),
        ({"name": f"{LONG}.{LONG}b.com"}, [f'spec.name: Invalid value: "{LONG}": must be no more than 63 characters']),
        ({"name": "*.example.com."}, []),
        (
            {"recordType": "SOA"},
            ['spec.recordType: Unsupported value: "SOA": supported values: "A", "AAAA", "CNAME", "TXT"'],
        ),
        (
            {"recordType": "a"},
            ['spec.recordType: Unsupported value: "a": supported values: "A", "AAAA", "CNAME", "TXT"'],
        ),
        (
            {"recordType": None},
            ['spec.recordType: Unsupported value: "": supported values: "A", "AAAA", "CNAME", "TXT"'],
        ),
        ({"values": []}, ["spec.values: Required value: field is required"]),
        ({"recordType": "TXT", "values": None}, ["spec.values: Required value: field is required"]),
        (
            {"recordType": "CNAME", "values": ["a.b", "c.d"]},
            ['spec.values: Invalid value: ["a.b","c.d"]: CNAME records must have a single value'],
        ),
        ({"recordType": "CNAME", "values": ["a.b."]}, []),
        ({"recordType": "CNAME", "values": [""]}, ["spec.values[0]: Required value"]),
        ({"recordType": "CNAME", "values": ["*.a.b"]}, [f'spec.values[0]: Invalid value: "*.a.b": {NO_SUBDOMAIN}']),
        (
            {"recordType": "CNAME", "values": ["a"]},
            ['spec.values[0]: Invalid value: "a": should be a domain with at least two segments separated by dots'],
        ),
        ({"recordType": "A", "values": [""]}, [NO_ADDRESS.format('""', "IPv4")]),
        ({"recordType": "A", "values": ["::1"]}, [NO_ADDRESS.format('"::1"', "IPv4")]),
        ({"recordType": "A", "values": ["1.2.3.4/32"]}, [NO_ADDRESS.format('"1.2.3.4/32"', "IPv4")]),
        ({"recordType": "A", "values": ["01.2.3.004", "::ffff:1.2.3.4"]}, []),
        ({"recordType": "AAAA", "values": [None]}, [NO_ADDRESS.format('""', "IPv6")]),
        ({"recordType": "AAAA", "values": ["1.2.3.4"]}, [NO_ADDRESS.format('"1.2.3.4"', "IPv6")]),
        ({"recordType": "AAAA", "values": ["::ffff:1.2.3.4"]}, [NO_ADDRESS.format('"::ffff:1.2.3.4"', "IPv6")]),
        ({"recordType": "AAAA", "values": ["fe80::1%eth0"]}, [NO_ADDRESS.format('"fe80::1%eth0"', "IPv6")]),
        ({"recordType": "AAAA", "values": ["2001:00db8::1"]}, []),
        ({"recordType": "TXT", "values": ["", "any text"]}, []),
        ({"ttl": -1}, ["spec.ttl: Invalid value: -1: must be greater than or equal to 0"]),
        ({"ttl": 0}, []),
        ({"ttl": 1.5}, ["spec.ttl: Invalid value: expected an integer of 64 bits, got a decimal number"]),
    ],
)
def test_of_dns_records(spec: Mapping[str, Any], expected: list[str]) -> None:
    assert texts("DNSRecord", spec) == expected


FAMILIES = 'supported values: "IPv4", "IPv6"'


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": None}, ["spec.type: Required value: field is required"]),
        ({"ipFamilies": ["ipv4"]}, [f'spec.ipFamilies[0]: Unsupported value: "ipv4": {FAMILIES}']),
        ({"ipFamilies": [None]}, [f'spec.ipFamilies[0]: Unsupported value: "": {FAMILIES}']),
        ({"ipFamilies": ["IPv4", "IPv4"]}, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']),
        (
            {"ipFamilies": ["x", "x"]},
            [
                f'spec.ipFamilies[0]: Unsupported value: "x": {FAMILIES}',
                f'spec.ipFamilies[1]: Unsupported value: "x": {FAMILIES}',
                'spec.ipFamilies[1]: Duplicate value: "x"',
            ],
        ),
        (
            {"ipFamilies": ["IPv4", "IPv6"], "podCIDR": "x"},
            ['spec.ipFamilies: Invalid value: ["IPv4","IPv6"]: dual-stack networking is not supported'],
        ),
        ({"podCIDR": ""}, ["spec.podCIDR: Required value: field is required"]),
        (
            {"podCIDR": None, "serviceCIDR": None},
            [
                "spec.podCIDR: Required value: field is required",
                "spec.serviceCIDR: Required value: field is required",
            ],
        ),
        (
            {"podCIDR": "10.0.0.0", "serviceCIDR": "10.0.0.0/33"},
            [
                'spec.podCIDR: Invalid value: "10.0.0.0": invalid CIDR address: 10.0.0.0',
                'spec.serviceCIDR: Invalid value: "10.0.0.0/33": invalid CIDR address: 10.0.0.0/33',
            ],
        ),
        (
            {"podCIDR": "10.0.0.01/8"},
            ['spec.podCIDR: Invalid value: "10.0.0.01/8": invalid CIDR address: 10.0.0.01/8'],
        ),
        (
            {"podCIDR": "2001:db8::1:0/112"},
            ['spec.podCIDR: Invalid value: "2001:db8::1:0": must be a valid IPv4 address'],
        ),
        (
            {"ipFamilies": ["IPv6"], "podCIDR": "10.1.2.3/16", "serviceCIDR": "2001:db8::/64"},
            ['spec.podCIDR: Invalid value: "10.1.0.0": must be a valid IPv6 address'],
        ),
        (
            {"podCIDR": "10.0.0.0/8", "serviceCIDR": "10.1.0.0/16"},
            ['spec.serviceCIDR: Invalid value: "10.1.0.0/16": must not overlap with "spec.podCIDR" ("10.0.0.0/8")'],
        ),
        (
            {"podCIDR": "10.1.0.0/16", "serviceCIDR": "10.0.0.0/8"},
            ['spec.serviceCIDR: Invalid value: "10.0.0.0/8": must not overlap with "spec.podCIDR" ("10.1.0.0/16")'],
        ),
        ({"ipFamilies": [], "podCIDR": "10.1.2.3/16", "serviceCIDR": "10.2.0.0/016"}, []),
    ],
)
def test_of_networks(spec: Mapping[str, Any], expected: list[str]) -> None:
    assert texts("Network", spec) == expected


PREFIX = "spec.backup.store.prefix: Invalid value: {0}: must contain object name and namespace"


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        (None, []),
        ({}, [PREFIX.format('""')]),
        ({"prefix": "sample"}, [PREFIX.format('"sample"')]),
        ({"prefix": "shoot--dev--one"}, [PREFIX.format('"shoot--dev--one"')]),
        ({"prefix": "x/sample-shoot--dev--one"}, []),
        ({"prefix": "shoot--dev--one/sample", "provider": ""}, []),
        (
            {"prefix": "shoot--dev--one/sample", "provider": "s3"},
            ['spec.backup.store.provider: Invalid value: "s3": unsupported storage provider: s3'],
        ),
        *(
            ({"prefix": "shoot--dev--one/sample", "provider": provider}, [])
            for provider in (
                *("aws", "S3", "azure", "ABS", "alicloud", "OSS", "openstack", "Swift"),
                *("gcp", "GCS", "dell", "ECS", "openshift", "OCS", "Local", "local"),
            )
        ),
    ],
)
def test_of_etcds(store: Mapping[str, Any] | None, expected: list[str]) -> None:
    assert texts("Etcd", {"backup": {"store": store}}) == expected


def prefixed(prefix: str) -> dict[str, Any]:
    return {"backup": {"store": {"prefix": f"{prefix}shoot--dev--one/sample"}}}


@pytest.mark.parametrize(
    ("kind", "metadata", "new", "old", "expected"),
    [
        ("DNSRecord", {}, {"name": "b.c"}, {"name": "a.c"}, f'spec.name: Invalid value: "b.c": {IMMUTABLE}'),
        (
            "DNSRecord",
            {},
            {"recordType": "TXT"},
            {"recordType": "A"},
            f'spec.recordType: Invalid value: "TXT": {IMMUTABLE}',
        ),
        ("DNSRecord", TERMINATING, {"ttl": 1}, {"ttl": 2}, "spec: Forbidden: ttl: 1 != 2"),
        (
            "Network",
            {},
            {"podCIDR": "10.1.0.0/16"},
            {"podCIDR": "10.2.0.0/16"},
            f'spec.podCIDR: Invalid value: "10.1.0.0/16": {IMMUTABLE}',
        ),
        (
            "Network",
            {},
            {"serviceCIDR": "10.1.0.0/16"},
            {"serviceCIDR": "10.2.0.0/16"},
            f'spec.serviceCIDR: Invalid value: "10.1.0.0/16": {IMMUTABLE}',
        ),
        (
            "Network",
            {},
            {"ipFamilies": None},
            {"ipFamilies": ["IPv4"]},
            f"spec.ipFamilies: Invalid value: []: {IMMUTABLE}",
        ),
        (
            "Network",
            TERMINATING,
            {"podCIDR": "10.1.0.0/16"},
            {"podCIDR": "10.2.0.0/16"},
            "spec: Forbidden: podCIDR: 10.1.0.0/16 != 10.2.0.0/16",
        ),
        (
            "Etcd",
            {},
            prefixed("b"),
            prefixed("a"),
            f'spec.backup.store.prefix: Invalid value: "bshoot--dev--one/sample": {IMMUTABLE}',
        ),
        ("Etcd", TERMINATING, {"replicas": 1}, {"replicas": 3}, f"spec: Invalid value: {IMMUTABLE}"),
    ],
)
def test_of_updates(
    kind: str, metadata: Mapping[str, Any], new: Mapping[str, Any], old: Mapping[str, Any], expected: str
) -> None:
    (error,) = validate_update(kind, sample(kind, metadata, **new), sample(kind, metadata, **old))

    assert str(error) == expected


@pytest.mark.parametrize(
    ("kind", "field"),
    [("Network", "podCIDR"), ("DNSRecord", "recordType"), ("Network", "type")],
)
def test_a_text_that_was_taken_away_is_shown_as_the_empty_text(kind: str, field: str) -> None:
    found = [*map(str, validate_update(kind, sample(kind, **{field: None}), sample(kind)))]

    assert found[0] == f'spec.{field}: Invalid value: "": {IMMUTABLE}'


def test_a_field_that_may_be_absent_is_shown_as_null() -> None:
    new, old = sample("ControlPlane", purpose=None), sample("ControlPlane")

    assert [*map(str, validate_update("ControlPlane", new, old))] == [
        f'spec.purpose: Invalid value: "null": {IMMUTABLE}'
    ]
