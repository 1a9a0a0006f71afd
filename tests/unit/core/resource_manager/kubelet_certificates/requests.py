"""Requests of kubelets, Nodes and Machines as tests of verdicts need them; requests are encoded as tests read them."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from returns.result import Failure, Result, Success

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, NODES, SERVICES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.resource_manager.kubelet_certificates import (
    CertificateRequest,
    KubeletCertificateConfig,
    kubelet_csr_approver,
)
from tests.unit.core.resource_manager.turns import Clusters

SHOOT = "shoot--foo--bar"
KEY = ObjectKey("", "csr-1")
USER = "system:node:node-1"
APPROVED = "Approving kubelet server certificate CSR (all checks passed)"


def decode(encoded: bytes) -> Result[CertificateRequest, str]:
    """A request out of JSON."""
    try:
        content = json.loads(encoded)
    except ValueError:
        return Failure("PEM block type must be CERTIFICATE REQUEST")
    names = (frozenset(content[kind]) for kind in ("dns", "ips", "others"))
    return Success(CertificateRequest(content["common_name"], tuple(content["organizations"]), *names))


CONTROLLER = kubelet_csr_approver(KubeletCertificateConfig(decode, SHOOT))


def asked(
    *,
    common_name: str = USER,
    organizations: Sequence[str] = ("system:nodes",),
    dns: Iterable[str] = ("foo.bar",),
    ips: Iterable[str] = ("1.2.3.4",),
    others: Iterable[str] = (),
) -> str:
    """What a kubelet asks for, encoded."""
    parts = {"dns": [*dns], "ips": [*ips], "others": [*others]}
    content = {"common_name": common_name, "organizations": [*organizations], **parts}
    return b64encode(json.dumps(content).encode()).decode()


def csr(request: str = "", *, status: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A CertificateSigningRequest as an API server stores it."""
    return {
        "metadata": {"name": KEY.name, "uid": "u-1", "resourceVersion": "7", "managedFields": [{"manager": "kubelet"}]},
        "spec": {
            "request": request or asked(),
            "signerName": "kubernetes.io/kubelet-serving",
            "username": USER,
            "groups": ["system:nodes", "system:authenticated"],
            "usages": ["digital signature", "server auth"],
            **spec,
        },
        "status": dict(status or {}),
    }


def condition(condition_type: str, status: str = "True") -> dict[str, str]:
    return {"type": condition_type, "status": status, "reason": "Because", "message": "so"}


def node(*addresses: tuple[str, str], name: str = "node-1") -> dict[str, Any]:
    reported = [{"type": address_type, "address": address} for address_type, address in addresses]
    return {"metadata": {"name": name}, "status": {"addresses": reported}}


NODE = node(("Hostname", "foo.bar"), ("InternalIP", "1.2.3.4"))


API_SERVER = {
    "metadata": {"namespace": "default", "name": "kubernetes"},
    "spec": {"clusterIP": "100.64.0.1", "clusterIPs": ["100.64.0.1", "fd00:10::1"]},
}
"""The Service by which pods reach the API server."""


def machine(name: str = "m0", *, of: str = "node-1", namespace: str = SHOOT) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "labels": {"node": of}}}


def clusters(
    *requests: Manifest, nodes: Sequence[Manifest] = (NODE,), machines: Sequence[Manifest] = (machine(),)
) -> Clusters:
    """Requests, Nodes and the API server's Service in the target cluster, Machines in the source cluster."""
    target = {CERTIFICATE_SIGNING_REQUESTS: requests or (csr(),), NODES: nodes, SERVICES: [API_SERVER]}
    source: Mapping[Resource, Sequence[Manifest]] = {MACHINES: machines}
    return Clusters.of(target=target, source=source)


def conditions(world: Clusters) -> list[dict[str, Any]]:
    """Those of the request."""
    stored = world.objects(Cluster.TARGET)[CERTIFICATE_SIGNING_REQUESTS][KEY]
    return list(stored["status"].get("conditions", []))
