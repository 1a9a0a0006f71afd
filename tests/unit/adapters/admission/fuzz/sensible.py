"""Objects that make sense, with which every example begins: of the golden cases, and some that have every field."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import DEPLOYMENTS, NAMESPACES, PODS, STATEFUL_SETS
from hedgerow.machinery.objects import Manifest, Resource
from tests.unit.adapters.admission.fuzz.values import Fragments, fragments_of
from tests.unit.core.admission.extension_validation.objects import SPECS, sample

GOLDEN: Final = Path(__file__).parents[4] / "golden" / "admission"
DOMAIN: Final = "high-availability-config.resources.gardener.cloud"
WORKLOADS: Final = (DEPLOYMENTS, STATEFUL_SETS)
AUTOSCALED: Final = {
    "apiVersion": HVPAS.api_version,
    "kind": HVPAS.kind,
    "metadata": {"namespace": "shop", "name": "example", "labels": {f"{DOMAIN}/type": "controller"}},
    "spec": {
        "targetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "example"},
        "hpa": {"deploy": True, "template": {"spec": {"minReplicas": 1, "maxReplicas": 5}}},
    },
}
DAEMON: Final = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "example", "controller": True}
UNREADY: Final = "node.kubernetes.io/not-ready"
EXPRESSION: Final = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
POD: Final = {
    "metadata": {"labels": {"app": "a", "pod-template-hash": "1f"}, "ownerReferences": [DAEMON]},
    "spec": {
        "serviceAccountName": "example",
        "schedulerName": "default-scheduler",
        "containers": [{"name": "c", "env": [{"name": "KUBERNETES_SERVICE_HOST", "value": "a"}], "volumeMounts": []}],
        "initContainers": [{"name": "i"}],
        "volumes": [{"name": "kube-api-access", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}],
        "securityContext": {"seccompProfile": {"type": "Unconfined"}},
        "tolerations": [{"key": UNREADY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}],
        "topologySpreadConstraints": [
            {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "labelSelector": {"matchLabels": {"app": "a"}}},
            {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 2, "minDomains": 2},
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [EXPRESSION, {"key": "a", "operator": "Exists"}]}]
                }
            }
        },
    },
}
"""With every field that a webhook looks at."""


@cache
def sensible() -> Sequence[Manifest]:
    """The objects that everything begins with, all of one namespace."""
    golden = [
        _in_the_shop(manifest)
        for path in sorted({*GOLDEN.glob("*/input.yaml"), *GOLDEN.glob("*/expected.yaml")})
        for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if isinstance(manifest, dict) and "kind" in manifest
    ]
    pods = [_named(PODS, **POD), *(_named(each, spec={"replicas": 1, "template": POD}) for each in WORKLOADS)]
    return (*golden, *pods, AUTOSCALED, *(sample(kind) for kind in SPECS))


def _named(resource: Resource, **members: Any) -> Manifest:
    """An object that is called as the autoscaler's target and the ServiceAccount are."""
    labels = {f"{DOMAIN}/type": "controller", **members.get("metadata", {}).get("labels", {})}
    metadata = {"namespace": "shop", "name": "example", **members.get("metadata", {}), "labels": labels}
    return {"apiVersion": resource.api_version, "kind": resource.kind, **members, "metadata": metadata}


def _in_the_shop(manifest: dict[str, Any]) -> Manifest:
    metadata = manifest.get("metadata") or {}
    if manifest["kind"] == NAMESPACES.kind:
        return {**manifest, "metadata": {**metadata, "name": "shop"}}
    return {**manifest, "metadata": {**metadata, "namespace": "shop"}} if "namespace" in metadata else manifest


@cache
def fragments() -> Fragments:
    """What members have in objects that make sense."""
    return fragments_of(sensible())


@cache
def beginnings(resource: Resource) -> Sequence[Manifest]:
    """Objects of a resource that make sense."""
    named = {"apiVersion": resource.api_version, "kind": resource.kind}
    found = [each for each in sensible() if named.items() <= each.items()]
    return found or [{**named, "metadata": {"namespace": "shop", "name": "example"}, "spec": {}}]
