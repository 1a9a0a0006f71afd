"""What is found wrong with updates: the examples of the specification, whose numbers are the ids (§9.9)."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.admission.extension_validation import KINDS, validate_update
from tests.unit.core.admission.extension_validation.objects import POOL, sample, short

BOTH_CIDRS = ["Invalid spec.podCIDR", "Invalid spec.serviceCIDR"]
TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def change(number: str, kind: str, new: Mapping[str, Any], *expected: str, old: Mapping[str, Any] | None = None) -> Any:
    return pytest.param(kind, new, old or {}, [*expected], id=number)


OTHER_TYPE_AND_REGION = {"type": "other", "region": "other"}
OTHER_DETAILS = {"secretRef": {"name": "other"}, "providerConfig": {"a": 2}}


@pytest.mark.parametrize(
    ("kind", "new", "old", "expected"),
    [
        change("V31", "Infrastructure", OTHER_TYPE_AND_REGION, "Invalid spec.type", "Invalid spec.region"),
        change("V32", "Infrastructure", OTHER_DETAILS),
        change("V36-set", "ControlPlane", {}, "Invalid spec.purpose", old={"purpose": None}),
        change(
            "V36-empty",
            "ControlPlane",
            {"purpose": ""},
            "Invalid spec.purpose",
            "NotSupported spec.purpose",
            old={"purpose": None},
        ),
        change("V36-unset", "ControlPlane", {"purpose": None}, "Invalid spec.purpose"),
        change(
            "V37",
            "Network",
            {"ipFamilies": ["IPv6"]},
            "Invalid spec.ipFamilies",
            *BOTH_CIDRS,
            old={"ipFamilies": None},
        ),
        change("V38", "BackupEntry", {**OTHER_TYPE_AND_REGION, "bucketName": "other"}, "Invalid spec.type"),
        change(
            "V39-prefix",
            "Etcd",
            {"backup": {"store": {"prefix": "shoot--dev--one/sample"}}},
            "Invalid spec.backup.store.prefix",
        ),
        change("V39-added", "Etcd", {}, old={"backup": None}),
        change("V39-removed", "Etcd", {"backup": None}),
        change("V40", "Bastion", {"userData": "YQ==", "type": "other"}, "Invalid spec.type", "Invalid spec.userData"),
        change("BackupBucket region", "BackupBucket", {"region": "other"}, "Invalid spec.region"),
        change(
            "ContainerRuntime pool", "ContainerRuntime", {"workerPool": {"name": "x"}}, "Invalid spec.workerPool.name"
        ),
        change("ControlPlane region", "ControlPlane", {"region": "other"}, "Invalid spec.region"),
        change(
            "DNSRecord name and type",
            "DNSRecord",
            {"name": "x.example.com", "recordType": "TXT"},
            "Invalid spec.name",
            "Invalid spec.recordType",
        ),
        change("Network ranges", "Network", {"podCIDR": "10.40.0.0/16", "serviceCIDR": "10.50.0.0/16"}, *BOTH_CIDRS),
        change(
            "purpose of an OperatingSystemConfig",
            "OperatingSystemConfig",
            {"purpose": "provision"},
            "Invalid spec.purpose",
        ),
        change("Worker region", "Worker", {"region": "other"}, "Invalid spec.region"),
    ],
)
def test_update(kind: str, new: Mapping[str, Any], old: Mapping[str, Any], expected: list[str]) -> None:
    assert short(validate_update(kind, sample(kind, **new), sample(kind, **old))) == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Etcd"])
def test_the_type_of_an_extension_never_changes(kind: str) -> None:
    assert short(validate_update(kind, sample(kind, type="other"), sample(kind))) == ["Invalid spec.type"]


@pytest.mark.parametrize(
    ("spec", "detail"),
    [
        pytest.param(OTHER_TYPE_AND_REGION, "region: other != eu,type: other != aws", id="V33-V31"),
        pytest.param(
            OTHER_DETAILS,
            "providerConfig.a: 2 != <none>,secretRef.name: other != cloudprovider,secretRef.namespace: <none> != "
            "shoot--dev--one",
            id="V33-V32",
        ),
    ],
)
def test_the_spec_of_an_object_in_deletion_stays(spec: Mapping[str, Any], detail: str) -> None:
    new, old = sample("Infrastructure", TERMINATING, **spec), sample("Infrastructure", TERMINATING)

    (error,) = validate_update("Infrastructure", new, old)

    assert str(error) == f"spec: Forbidden: {detail}"


@pytest.mark.parametrize(("kind", "expected"), [("Extension", "Forbidden spec"), ("Etcd", "Invalid spec")])
def test_the_spec_stays_once_the_new_object_is_in_deletion(kind: str, expected: str) -> None:
    new, old = sample(kind, TERMINATING, other="new"), sample(kind)

    assert short(validate_update(kind, new, old)) == ["Invalid metadata.deletionTimestamp", expected]
    assert short(validate_update(kind, old, new)) == ["Invalid metadata.deletionTimestamp"]


def test_ten_differences_are_listed() -> None:
    config = {f"field-{number}": number for number in range(20)}
    new = sample("Extension", TERMINATING, providerConfig=config)

    (error,) = validate_update("Extension", new, sample("Extension", TERMINATING, providerConfig={}))

    assert error.text.count("!=") == 10


def test_v33_what_is_empty_may_come_and_go_during_deletion() -> None:
    new = sample("Extension", TERMINATING, providerConfig=None)

    assert validate_update("Extension", new, sample("Extension", TERMINATING, providerConfig={"a": []})) == ()


def test_v34_an_update_names_the_version_that_it_changes() -> None:
    new = sample("Extension", {"resourceVersion": ""})

    assert short(validate_update("Extension", new, sample("Extension"))) == ["Invalid metadata.resourceVersion"]


def test_v35_an_object_in_deletion_gets_no_further_finalizer() -> None:
    new, old = sample("Extension", {**TERMINATING, "finalizers": ["a/b"]}), sample("Extension", TERMINATING)

    assert short(validate_update("Extension", new, old)) == ["Forbidden metadata.finalizers"]
    assert validate_update("Extension", old, new) == ()


def test_finalizers_may_still_come_when_deletion_begins() -> None:
    new, old = sample("Extension", {**TERMINATING, "finalizers": ["a/b"]}), sample("Extension")

    assert short(validate_update("Extension", new, old)) == ["Invalid metadata.deletionTimestamp"]


def test_v39_the_spec_of_an_etcd_in_deletion_stays() -> None:
    new, old = sample("Etcd", TERMINATING, replicas=3), sample("Etcd", TERMINATING)

    assert short(validate_update("Etcd", new, old)) == ["Invalid spec"]
    assert validate_update("Etcd", old, old) == ()


@pytest.mark.parametrize(
    ("kind", "new", "old"),
    [
        ("Etcd", {"storageCapacity": "1Gi"}, {"storageCapacity": "1024Mi"}),
        ("Etcd", {"etcd": {"quota": "8Gi"}}, {"etcd": {"quota": "8192Mi"}}),
        (
            "Etcd",
            {"etcd": {"resources": {"requests": {"cpu": "1"}}}},
            {"etcd": {"resources": {"requests": {"cpu": "1000m"}}}},
        ),
        ("Etcd", {"etcd": {"etcdDefragTimeout": "60s"}}, {"etcd": {"etcdDefragTimeout": "1m0s"}}),
        ("Etcd", {"etcd": {"clientService": {"labels": {}}}}, {"etcd": {}}),
        (
            "Worker",
            {"pools": [{**POOL, "nodeTemplate": {"capacity": {"memory": "1Gi"}}}]},
            {"pools": [{**POOL, "nodeTemplate": {"capacity": {"memory": "1024Mi"}}}]},
        ),
        (
            "Worker",
            {"pools": [{**POOL, "machineControllerManager": {"machineDrainTimeout": "120m"}}]},
            {"pools": [{**POOL, "machineControllerManager": {"machineDrainTimeout": "2h0m0s"}}]},
        ),
        ("Infrastructure", {"secretRef": {"name": "x", "namespace": ""}}, {"secretRef": {"name": "x"}}),
        ("DNSRecord", {"ttl": 60, "values": ["1.2.3.4"]}, {"ttl": 60.0, "values": ["1.2.3.4"]}),
    ],
)
def test_what_means_the_same_may_be_spelled_differently_during_deletion(
    kind: str, new: Mapping[str, Any], old: Mapping[str, Any]
) -> None:
    terminating = sample(kind, TERMINATING, **new), sample(kind, TERMINATING, **old)

    assert validate_update(kind, *terminating) == ()
    assert validate_update(kind, *reversed(terminating)) == ()


def test_an_empty_label_of_a_pool_is_a_label() -> None:
    new, old = (sample("Worker", TERMINATING, pools=[{**POOL, "labels": labels}]) for labels in ({"dedicated": ""}, {}))

    (error,) = validate_update("Worker", new, old)

    assert str(error) == "spec: Forbidden: pools[0].labels.dedicated:  != <none>"


SECRET = "c2VjcmV0"  # noqa: S105 -- must not be found in messages


@pytest.mark.parametrize(
    ("kind", "metadata", "spec", "text"),
    [
        ("Bastion", {}, {"userData": SECRET}, "spec.userData: Invalid value: field is immutable"),
        ("Bastion", TERMINATING, {"userData": SECRET}, "spec: Forbidden: userData: values differ"),
        (
            "Worker",
            TERMINATING,
            {"pools": [{**POOL, "userData": SECRET}]},
            "spec: Forbidden: pools[0].userData: values differ",
        ),
        ("Etcd", TERMINATING, {"password": SECRET}, "spec: Invalid value: field is immutable"),
    ],
)
def test_what_may_be_confidential_is_not_repeated(
    kind: str, metadata: Mapping[str, Any], spec: Mapping[str, Any], text: str
) -> None:
    (error,) = validate_update(kind, sample(kind, metadata, **spec), sample(kind, metadata))

    assert str(error) == text
