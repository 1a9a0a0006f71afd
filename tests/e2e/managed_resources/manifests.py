"""Objects as producers put them into ManagedResources: short, and silent about what an API server fills in."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from tests.e2e.managed_resources.urls import Manifest

RBAC: Final = "rbac.authorization.k8s.io"
CUSTOM_GROUP: Final = "landscape.example.com"
IMAGE: Final = "registry.example.com/app:v1.2.3"
_Dumper: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def named(api_version: str, kind: str, namespace: str, name: str, /, **members: Any) -> Manifest:
    """An object; one without a namespace belongs to the cluster."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **members}


def annotated(manifest: Manifest, **annotations: str) -> Manifest:
    """The object with annotations, whose names are given without `resources.gardener.cloud/`, dashes as underscores."""
    full = {f"resources.gardener.cloud/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": full}}


def config_map(namespace: str, name: str, *, immutable: bool = False, **data: str) -> Manifest:
    """Some settings."""
    fixed = {"immutable": True} if immutable else {}
    return named("v1", "ConfigMap", namespace, name, data=data or {"setting": f"of {name}"}, **fixed)


def plain_secret(namespace: str, name: str) -> Manifest:
    """A password."""
    return named("v1", "Secret", namespace, name, type="Opaque", data={"password": "cGFzc3dvcmQ="})


def service(namespace: str, name: str, **spec: Any) -> Manifest:
    """A headless Service: an API server has few addresses."""
    ports = [{"name": "https", "port": 443, "targetPort": 8443}]
    return named(
        "v1", "Service", namespace, name, spec={"clusterIP": "None", "selector": _app(name), "ports": ports} | spec
    )


def service_account(namespace: str, name: str) -> Manifest:
    """Somebody."""
    return named("v1", "ServiceAccount", namespace, name, automountServiceAccountToken=False)


def cluster_role(name: str) -> Manifest:
    """What may be done."""
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
    return named(f"{RBAC}/v1", "ClusterRole", "", name, rules=[rule])


def cluster_role_binding(name: str, role: str, namespace: str, account: str) -> Manifest:
    """Who may do it."""
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return named(f"{RBAC}/v1", "ClusterRoleBinding", "", name, roleRef=reference, subjects=[subject])


def network_policy(namespace: str, name: str) -> Manifest:
    """Who may talk to pods."""
    spec = {"podSelector": {"matchLabels": _app(name)}, "ingress": [{"from": [{"podSelector": {}}]}]}
    return named("networking.k8s.io/v1", "NetworkPolicy", namespace, name, spec=spec)


def deployment(namespace: str, name: str, *, image: str = IMAGE, **spec: Any) -> Manifest:
    """A Deployment."""
    content = {"replicas": 1, "selector": {"matchLabels": _app(name)}, "template": _template(name, image)}
    return named("apps/v1", "Deployment", namespace, name, spec=content | spec)


def stateful_set(namespace: str, name: str, **spec: Any) -> Manifest:
    """A StatefulSet whose pods have a volume each."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    content = {
        "serviceName": name,
        "selector": {"matchLabels": _app(name)},
        "template": _template(name, IMAGE),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    return named("apps/v1", "StatefulSet", namespace, name, spec=content | spec)


def job(namespace: str, name: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A Job, whose pods have these labels."""
    template = _template(name, IMAGE, restartPolicy="Never")
    template["metadata"]["labels"] |= labels or {}
    return named("batch/v1", "Job", namespace, name, spec={"template": template} | spec)


def autoscaler(namespace: str, name: str) -> Manifest:
    """What sets the replicas of the Deployment of that name."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    return named("autoscaling/v1", "HorizontalPodAutoscaler", namespace, name, spec=spec)


def disruption_budget(namespace: str, name: str) -> Manifest:
    """How many pods of the Deployment of that name may go at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": _app(name)}}
    return named("policy/v1", "PodDisruptionBudget", namespace, name, spec=spec)


def custom_definition(kind: str) -> Manifest:
    """A kind of the landscape's own."""
    plural = f"{kind.lower()}s"
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    spec = {
        "group": CUSTOM_GROUP,
        "scope": "Namespaced",
        "names": {"kind": kind, "plural": plural},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
    }
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", f"{plural}.{CUSTOM_GROUP}", spec=spec)


def custom_object(kind: str, namespace: str, name: str) -> Manifest:
    """An object of such a kind."""
    return named(f"{CUSTOM_GROUP}/v1", kind, namespace, name, spec={"size": 3, "ratio": 0.5})


# What carries them.


def secret_of(namespace: str, name: str, objects: Iterable[Manifest]) -> Manifest:
    """A Secret with one data key for each object."""
    texts = {_file_of(each): yaml.dump(each, Dumper=_Dumper, sort_keys=True) for each in objects}
    return named("v1", "Secret", namespace, name, type="Opaque", stringData=texts)


def managed_resource(namespace: str, name: str, *secrets: str, class_name: str = "", **spec: Any) -> Manifest:
    """A ManagedResource of these Secrets."""
    content = {"secretRefs": [{"name": each} for each in secrets], **({"class": class_name} if class_name else {})}
    return named("resources.gardener.cloud/v1alpha1", "ManagedResource", namespace, name, spec=content | spec)


def _file_of(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    name = metadata["name"].replace(":", "_")
    return f"{manifest['kind'].lower()}__{metadata.get('namespace', '')}__{name}.yaml"


def _app(name: str) -> dict[str, str]:
    return {"app": name}


def _template(name: str, image: str, **pod: Any) -> Manifest:
    container = {
        "name": "app",
        "image": image,
        "command": ["/app", "--config=/etc/app/config.yaml", "--verbosity=2"],
        "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "https", "containerPort": 8443}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "https", "scheme": "HTTPS"}},
        "resources": {"requests": {"cpu": "0.1", "memory": "128Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
    }
    volume = {"name": "config", "configMap": {"name": name}}
    spec = {"automountServiceAccountToken": False, "containers": [container], "volumes": [volume], **pod}
    return {"metadata": {"labels": _app(name)}, "spec": spec}
