"""What is found wrong with new objects: the examples of the specification, whose numbers are the ids (§9.9)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hedgerow.admission.extension_validation import KINDS, validate_create, validate_update
from tests.unit.core.admission.extension_validation.objects import NAMESPACED, POOL, SPECS, empty, sample, short

NO_NAME = ["Required metadata.name"]
NO_NAMESPACE = ["Required metadata.name", "Required metadata.namespace"]
REQUIRED: Mapping[str, list[str]] = {
    "BackupBucket": ["type", "region", "secretRef.name"],
    "BackupEntry": ["type", "bucketName", "region", "secretRef.name"],
    "Bastion": ["type", "userData", "ingress"],
    "ContainerRuntime": ["type", "binaryPath", "workerPool.name"],
    "ControlPlane": ["type", "region", "secretRef.name"],
    "Etcd": [],
    "Extension": ["type"],
    "Infrastructure": ["type", "region", "secretRef.name"],
    "Network": ["type", "podCIDR", "serviceCIDR"],
    "OperatingSystemConfig": ["type", "purpose"],
    "Worker": ["type", "region", "secretRef.name"],
}
OF_EMPTY_DNS_RECORD = [
    "Required spec.type",
    "Required spec.secretRef.name",
    "Required spec.name",
    "NotSupported spec.recordType",
    "Required spec.values",
]
DUAL_STACK_TWICE = ["IPv4", "IPv6", "IPv4", "IPv6"]
FILES = [
    {},
    {
        "path": "/both",
        "content": {"secretRef": {"name": "s", "dataKey": "k"}, "inline": {"encoding": "", "data": "x"}},
    },
    {"path": "/secret", "content": {"secretRef": {}}},
    {"path": "/inline", "content": {"inline": {"encoding": "foo"}}},
    {"path": "/inline", "content": {"inline": {"data": "x"}}},
]
OF_FILES = [
    "Required spec.files[0].path",
    "Required spec.files[0].content",
    "Invalid spec.files[1].content",
    "Required spec.files[2].content.secretRef.name",
    "Required spec.files[2].content.secretRef.dataKey",
    "NotSupported spec.files[3].content.inline.encoding",
    "Required spec.files[3].content.inline.data",
    "Duplicate spec.files[4].path",
]
OF_BARE_POOL = [
    "Required spec.pools[0].machineType",
    "Required spec.pools[0].machineImage.name",
    "Required spec.pools[0].machineImage.version",
    "NotSupported spec.pools[0].architecture",
    "Required spec.pools[0].name",
    "Required spec.pools[0].userData",
    "Invalid spec.pools[0].nodeTemplate.capacity.cpu",
]
BOTH_CIDRS = ["Invalid spec.podCIDR", "Invalid spec.serviceCIDR"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_valid_object_has_no_errors(kind: str) -> None:
    assert validate_create(kind, sample(kind)) == ()
    assert validate_update(kind, sample(kind), sample(kind)) == ()


def capacity(**amounts: Any) -> dict[str, Any]:
    return {**POOL, "nodeTemplate": {"capacity": {name.replace("__", ".com/"): amounts[name] for name in amounts}}}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *(
            pytest.param(kind, [*NO_NAMESPACE, *(f"Required spec.{path}" for path in REQUIRED[kind])], id=f"V01-{kind}")
            for kind in NAMESPACED
            if kind != "DNSRecord"
        ),
        pytest.param("DNSRecord", [*NO_NAMESPACE, *OF_EMPTY_DNS_RECORD], id="V01-DNSRecord"),
        *(
            pytest.param(kind, [*NO_NAME, *(f"Required spec.{path}" for path in REQUIRED[kind])], id=f"V02-{kind}")
            for kind in ("BackupBucket", "BackupEntry")
        ),
    ],
)
def test_an_empty_object_lacks_what_its_kind_requires(kind: str, expected: list[str]) -> None:
    assert short(validate_create(kind, empty(kind))) == expected
    assert short(validate_create(kind, {**empty(kind), "metadata": None, "spec": None})) == expected


@pytest.mark.parametrize("kind", ["BackupBucket", "BackupEntry"])
def test_v03_a_cluster_scoped_object_has_no_namespace(kind: str) -> None:
    assert short(validate_create(kind, sample(kind, {"namespace": "garden"}))) == ["Forbidden metadata.namespace"]


def row(number: str, kind: str, spec: Mapping[str, Any], *expected: str) -> Any:
    return pytest.param(kind, spec, [*expected], id=number)


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        row("V04", "ControlPlane", {"purpose": "does-not-exist"}, "NotSupported spec.purpose"),
        row("V04-empty", "ControlPlane", {"purpose": ""}, "NotSupported spec.purpose"),
        row("V04-absent", "ControlPlane", {"purpose": None}),
        row("V05", "DNSRecord", {"region": "", "zone": ""}, "Invalid spec.region", "Invalid spec.zone"),
        *(
            row(f"V06-{name[:20]}", "DNSRecord", {"name": name}, "Invalid spec.name")
            for name in (
                "test",
                "test.",
                "Test.example.com",
                "_acme.example.com",
                "*.*.example.com",
                "test.example.com..",
                f"{'a' * 64}.example.com",
            )
        ),
        row("V07", "DNSRecord", {"name": "*."}, "Required spec.name"),
        row("V08-wildcard", "DNSRecord", {"name": "*.test.example.com"}),
        row("V08-dot", "DNSRecord", {"name": "test.example.com."}),
        row("V09", "DNSRecord", {"recordType": "CNAME", "values": ["example.com", "foo.bar"]}, "Invalid spec.values"),
        row("V09-domain", "DNSRecord", {"recordType": "CNAME", "values": ["example"]}, "Invalid spec.values[0]"),
        row("V09-empty", "DNSRecord", {"recordType": "CNAME", "values": [""]}, "Required spec.values[0]"),
        row(
            "V10",
            "DNSRecord",
            {"recordType": "A", "values": ["example.com", "::1", "1.2.3.04", "::ffff:1.2.3.4"]},
            "Invalid spec.values[0]",
            "Invalid spec.values[1]",
        ),
        row(
            "V11",
            "DNSRecord",
            {"recordType": "AAAA", "values": ["1.2.3.4", "x", "2001:db8::1", "::ffff:1.2.3.4"]},
            "Invalid spec.values[0]",
            "Invalid spec.values[1]",
            "Invalid spec.values[3]",
        ),
        row("V12", "DNSRecord", {"recordType": "SOA", "values": ["x"]}, "NotSupported spec.recordType"),
        row("V13", "DNSRecord", {"recordType": "TXT", "values": ["", "x y"]}),
        row("V14", "DNSRecord", {"ttl": -1}, "Invalid spec.ttl"),
        row("V14-zero", "DNSRecord", {"ttl": 0}),
        row("V15", "Network", {"podCIDR": "10.20.30.40/26", "serviceCIDR": "10.30.40.50/26"}),
        *(
            row(
                f"V16-{families}",
                "Network",
                {"podCIDR": "2001:db8::/64", "serviceCIDR": "2001:db9::/64", "ipFamilies": families},
                *BOTH_CIDRS,
            )
            for families in (None, [], ["IPv4"])
        ),
        row("V17", "Network", {"ipFamilies": ["IPv6"]}, *BOTH_CIDRS),
        row("V18", "Network", {"podCIDR": "this-is-no-cidr", "serviceCIDR": "10.0.0.0"}, *BOTH_CIDRS),
        row("V19-equal", "Network", {"serviceCIDR": SPECS["Network"]["podCIDR"]}, "Invalid spec.serviceCIDR"),
        row(
            "V19-inside",
            "Network",
            {"podCIDR": "10.0.0.0/8", "serviceCIDR": "10.1.0.0/16"},
            "Invalid spec.serviceCIDR",
        ),
        row(
            "V20",
            "Network",
            {"ipFamilies": ["foo", "bar"]},
            "NotSupported spec.ipFamilies[0]",
            "NotSupported spec.ipFamilies[1]",
        ),
        row(
            "V20-repeated",
            "Network",
            {"ipFamilies": ["foo", "foo"]},
            "NotSupported spec.ipFamilies[0]",
            "NotSupported spec.ipFamilies[1]",
            "Duplicate spec.ipFamilies[1]",
        ),
        row(
            "V21",
            "Network",
            {"ipFamilies": DUAL_STACK_TWICE},
            "Duplicate spec.ipFamilies[2]",
            "Duplicate spec.ipFamilies[3]",
        ),
        row("V22", "Network", {"ipFamilies": ["IPv4", "IPv6"]}, "Invalid spec.ipFamilies"),
        row(
            "V23",
            "Network",
            {"ipFamilies": ["foo"], "podCIDR": None, "serviceCIDR": None},
            "NotSupported spec.ipFamilies[0]",
        ),
        row(
            "V24",
            "OperatingSystemConfig",
            {"units": [{"name": "", "dropIns": [{"name": "", "content": ""}]}]},
            "Required spec.units[0].name",
            "Required spec.units[0].dropIns[0].name",
            "Required spec.units[0].dropIns[0].content",
        ),
        row("V25", "OperatingSystemConfig", {"files": FILES}, *OF_FILES),
        row(
            "V25-no paths",
            "OperatingSystemConfig",
            {"files": [{**FILES[4], "path": ""}, {**FILES[4], "path": ""}]},
            "Required spec.files[0].path",
            "Required spec.files[1].path",
        ),
        row("V25-purpose", "OperatingSystemConfig", {"purpose": "foo"}, "NotSupported spec.purpose"),
        row(
            "V26",
            "Worker",
            {"pools": [{"architecture": "test", "nodeTemplate": {"capacity": {"cpu": "-1"}}}]},
            *OF_BARE_POOL,
        ),
        row("V26-no pools", "Worker", {"pools": []}),
        row("V26-no architecture", "Worker", {"pools": [{**POOL, "architecture": None}]}),
        row("V26-empty architecture", "Worker", {"pools": [{**POOL, "architecture": ""}]}, OF_BARE_POOL[3]),
        row(
            "V27",
            "Worker",
            {"pools": [capacity(pods="1.5", nvidia__gpu="500m", gpu="1", memory="8Gi")]},
            "Invalid spec.pools[0].nodeTemplate.capacity.nvidia.com/gpu",
            "Invalid spec.pools[0].nodeTemplate.capacity.pods",
        ),
        row("V28-empty", "Worker", {"pools": [{**POOL, "userData": ""}]}),
        row("V28-null", "Worker", {"pools": [{**POOL, "userData": None}]}, "Required spec.pools[0].userData"),
        row(
            "V29",
            "Etcd",
            {"backup": {"store": {"prefix": "foo", "provider": "foo"}}},
            "Invalid spec.backup.store.prefix",
            "Invalid spec.backup.store.provider",
        ),
        *(
            row(f"V29-{prefix}", "Etcd", {"backup": {"store": {"prefix": prefix}}}, "Invalid spec.backup.store.prefix")
            for prefix in ("shoot--dev--one", "sample")
        ),
        row("V29-no store", "Etcd", {"backup": {"store": None}}),
        row("V29-empty store", "Etcd", {"backup": {"store": {}}}, "Invalid spec.backup.store.prefix"),
        *(
            row(
                f"V30-{provider}",
                "Etcd",
                {"backup": {"store": {"prefix": "shoot--dev--one/sample", "provider": provider}}},
                "Invalid spec.backup.store.provider",
            )
            for provider in ("LOCAL", "s3")
        ),
    ],
)
def test_creation(kind: str, spec: Mapping[str, Any], expected: list[str]) -> None:
    assert short(validate_create(kind, sample(kind, **spec))) == expected


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [
        ("Extension", {"type": ""}, "spec.type: Required value: field is required"),
        (
            "ControlPlane",
            {"purpose": "x"},
            'spec.purpose: Unsupported value: "x": supported values: "normal", "exposure"',
        ),
        ("DNSRecord", {"zone": ""}, 'spec.zone: Invalid value: "": field cannot be empty if specified'),
        ("DNSRecord", {"name": "*."}, "spec.name: Required value"),
        (
            "DNSRecord",
            {"name": "test"},
            'spec.name: Invalid value: "test": should be a domain with at least two segments separated by dots',
        ),
        ("DNSRecord", {"values": ["x"]}, 'spec.values[0]: Invalid value: "x": must be a valid IPv4 address'),
        ("Network", {"podCIDR": "x"}, 'spec.podCIDR: Invalid value: "x": invalid CIDR address: x'),
        (
            "Network",
            {"podCIDR": "2001:db8::1/64"},
            'spec.podCIDR: Invalid value: "2001:db8::": must be a valid IPv4 address',
        ),
        (
            "Network",
            {"podCIDR": "1.0.0.0/8", "serviceCIDR": "::ffff:1.0.0.0/104"},
            'spec.serviceCIDR: Invalid value: "::ffff:1.0.0.0/104": must not overlap with "spec.podCIDR" ("1.0.0.0/8")',
        ),
        (
            "Network",
            {"serviceCIDR": "10.20.1.0/24"},
            'spec.serviceCIDR: Invalid value: "10.20.1.0/24": must not overlap with "spec.podCIDR" ("10.20.0.0/16")',
        ),
        (
            "Network",
            {"ipFamilies": ["IPv4", "IPv6"]},
            'spec.ipFamilies: Invalid value: ["IPv4","IPv6"]: dual-stack networking is not supported',
        ),
        ("Network", {"ipFamilies": ["IPv4", "IPv4"]}, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'),
        (
            "Worker",
            {"pools": [capacity(pods="1.5")]},
            'spec.pools[0].nodeTemplate.capacity.pods: Invalid value: "1.5": must be an integer',
        ),
    ],
)
def test_errors_say_what_is_wrong(kind: str, spec: Mapping[str, Any], text: str) -> None:
    assert [*map(str, validate_create(kind, sample(kind, **spec)))] == [text]


class ComparedText(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    times: ClassVar[list[int]] = [0]

    def __eq__(self, other: object) -> bool:
        self.times[0] += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_many_families_take_as_many_times_longer_and_no_more() -> None:
    families = [ComparedText(f"family-{number}") for number in range(1_000)]

    errors = validate_create("Network", sample("Network", ipFamilies=[*families, "family-7"]))

    assert short(errors)[-2:] == ["NotSupported spec.ipFamilies[1000]", "Duplicate spec.ipFamilies[1000]"]
    assert ComparedText.times[0] < 20_000


SECRET = "c2VjcmV0"  # noqa: S105 -- must not be found in messages


def test_what_is_written_to_nodes_is_not_repeated() -> None:
    content = {"secretRef": {"name": "s", "dataKey": "k"}, "inline": {"data": SECRET}}
    both = sample("OperatingSystemConfig", files=[{"path": "/a", "content": content}])

    (error,) = validate_create("OperatingSystemConfig", both)

    assert str(error) == (
        "spec.files[0].content: Invalid value: "
        "either 'secretRef' or 'inline' must be provided, not both at the same time"
    )


def test_long_values_are_cut() -> None:
    (error,) = validate_create("Network", sample("Network", podCIDR="x" * 5_000))

    assert str(error) == f'spec.podCIDR: Invalid value: "{"x" * 100}…": invalid CIDR address: {"x" * 100}…'
