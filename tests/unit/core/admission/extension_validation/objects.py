"""Valid objects of every kind, and what is found wrong with others in short form."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

from hedgerow.admission.extension_validation import KINDS
from hedgerow.machinery.failures import Problem

SECRET_REF: Final = {"name": "cloudprovider", "namespace": "shoot--dev--one"}
POOL: Final[Mapping[str, Any]] = {
    "name": "pool",
    "machineType": "large",
    "machineImage": {"name": "gardenlinux", "version": "1.2.3"},
    "userData": "ZWNobw==",
    "architecture": "arm64",
    "nodeTemplate": {"capacity": {"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": 1}},
    "minimum": 1,
}
STORE: Final[Mapping[str, Any]] = {"prefix": "shoot--dev--one--uid/sample", "provider": "aws"}

SPECS: Final[Mapping[str, Mapping[str, Any]]] = {
    "BackupBucket": {"type": "aws", "region": "eu", "secretRef": SECRET_REF},
    "BackupEntry": {"type": "aws", "region": "eu", "bucketName": "bucket", "secretRef": SECRET_REF},
    "Bastion": {"type": "aws", "userData": "ZWNobw==", "ingress": [{"ipBlock": {"cidr": "1.2.3.4/32"}}]},
    "ContainerRuntime": {"type": "gvisor", "binaryPath": "/var/bin", "workerPool": {"name": "pool"}},
    "ControlPlane": {"type": "aws", "region": "eu", "purpose": "normal", "secretRef": SECRET_REF},
    "DNSRecord": {
        "type": "aws-route53",
        "secretRef": SECRET_REF,
        "region": "eu",
        "zone": "zone",
        "name": "*.api.example.com",
        "recordType": "A",
        "values": ["1.2.3.4", "5.6.7.8"],
        "ttl": 120,
    },
    "Etcd": {"replicas": 1, "backup": {"store": STORE}},
    "Extension": {"type": "shoot-rsyslog-relp", "providerConfig": {"a": 1}},
    "Infrastructure": {"type": "aws", "region": "eu", "secretRef": SECRET_REF},
    "Network": {"type": "calico", "podCIDR": "10.20.0.0/16", "serviceCIDR": "10.30.0.0/16", "ipFamilies": ["IPv4"]},
    "OperatingSystemConfig": {
        "type": "coreos",
        "purpose": "reconcile",
        "units": [{"name": "a.service", "dropIns": [{"name": "10.conf", "content": "[Service]"}]}],
        "files": [
            {"path": "/a", "content": {"inline": {"encoding": "b64", "data": "YQ=="}}},
            {"path": "/b", "content": {"secretRef": {"name": "s", "dataKey": "k"}}},
        ],
    },
    "Worker": {"type": "aws", "region": "eu", "secretRef": SECRET_REF, "pools": [POOL]},
}
NAMESPACED: Final = tuple(name for name, kind in KINDS.items() if kind.resource.namespaced)


def sample(kind: str, metadata: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A valid object, except for what is said otherwise of its metadata and spec."""
    resource = KINDS[kind].resource
    namespace = {"namespace": "shoot--dev--one"} if resource.namespaced else {}
    return {
        "apiVersion": resource.api_version,
        "kind": kind,
        "metadata": {"name": "sample", **namespace, "resourceVersion": "1", **(metadata or {})},
        "spec": deepcopy({**SPECS[kind], **spec}),
    }


def empty(kind: str) -> dict[str, Any]:
    """An object that says nothing but what it is."""
    return {"apiVersion": KINDS[kind].resource.api_version, "kind": kind}


def short(errors: Iterable[Problem]) -> list[str]:
    """Kind and field of each error: `Required metadata.name`."""
    return [f"{error.reason.removeprefix('FieldValue')} {error.path}" for error in errors]
