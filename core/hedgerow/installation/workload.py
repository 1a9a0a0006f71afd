"""The pods of an installation, which the restricted Pod Security level admits, and the objects around them.

Source: managed-resources §4.2, §4.3; Kubernetes documentation, "Pod Security Standards".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    HOSTNAME,
    POD_DISRUPTION_BUDGETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    ZONE,
)
from hedgerow.api.network_policies import (
    ALL_WEBHOOK_TARGETS,
    ALLOWED_PORTS_PREFIX,
    ALLOWED_PORTS_SUFFIX,
    FROM_WORLD_TO_PORTS,
)
from hedgerow.installation.installation import NOTHING, Installation, fingerprint, folder
from hedgerow.machinery.objects import Manifest, Resource

Installed: TypeAlias = Installation[Any, Any]
API_ACCESS: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TARGET_ACCESS: Final = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig"
"""Where Gardener's kubeconfigs look for the token beside them."""
ROOT_CA: Final = "kube-root-ca.crt"
"""The ConfigMap that Kubernetes puts into every namespace."""
NOBODY: Final = 65532
"""User and group of the process."""
READABLE: Final = 0o440
READABLE_BY_ALL: Final = 0o444
GRACE_PERIOD: Final = 30
"""Seconds for a stop: 15 at most, and `server.webhooks.shutdownDelay`. A preStop hook would only take time from it, as
the process itself goes on to answer webhooks."""


def _object(
    installation: Installed,
    resource: Resource,
    annotations: Mapping[str, str],
    labels: Mapping[str, str] = NOTHING,
    **fields: Any,
) -> Manifest:
    labels = {**installation.labels, **labels}
    metadata: dict[str, Any] = {"name": installation.name, "namespace": installation.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def service_account(installation: Installed) -> Manifest:
    """The account of the pods, whose token they mount themselves."""
    annotations = installation.values.service_account.annotations
    return _object(installation, SERVICE_ACCOUNTS, annotations, automountServiceAccountToken=False)


def config_map(installation: Installed, text: str) -> Manifest:
    """The component configuration as a file."""
    return _object(installation, CONFIG_MAPS, {}, data={"config.yaml": text})


def service(installation: Installed) -> Manifest:
    """The Service of webhooks and metrics.

    An annotation lets API servers reach the webhooks: that of the own cluster may be anywhere, that of a separate
    target is a pod with a label for it.
    """
    annotations, server = installation.values.service.annotations, installation.server
    ports = [_service_port("metrics", server.metrics.port, server.metrics.port)]
    if installation.serving:
        ports.append(_service_port("webhooks", 443, server.webhooks.port))
        from_targets = f"{ALLOWED_PORTS_PREFIX}{ALL_WEBHOOK_TARGETS}{ALLOWED_PORTS_SUFFIX}"
        annotation = from_targets if installation.target else FROM_WORLD_TO_PORTS
        annotations = {annotation: f'[{{"protocol":"TCP","port":{server.webhooks.port}}}]', **annotations}
    spec = {"type": "ClusterIP", "selector": installation.labels, "ports": ports}
    return _object(installation, SERVICES, annotations, spec=spec)


def _service_port(name: str, port: int, target: int) -> Manifest:
    return {"name": name, "port": port, "targetPort": target, "protocol": "TCP"}


def pod_disruption_budget(installation: Installed) -> Manifest:
    """Limits how many pods a drain of nodes takes down at once."""
    spec = {
        "maxUnavailable": installation.values.pod_disruption_budget.max_unavailable,
        "selector": {"matchLabels": installation.labels},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return _object(installation, POD_DISRUPTION_BUDGETS, {}, spec=spec)


def deployment(installation: Installed) -> Manifest:
    """The pods, which are replaced when the component configuration changes."""
    values = installation.values
    labels = {**values.pod_labels, **installation.pod_labels, **installation.labels}
    if target := installation.target:
        labels = {**target.pod_labels, **labels}
    annotations = {**values.pod_annotations, "checksum/config": fingerprint(installation.document)}
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {**_pod(installation), **_scheduling(installation)},
    }
    spec = {
        "replicas": values.replicas,
        "revisionHistoryLimit": 2,
        "selector": {"matchLabels": installation.labels},
        "template": template,
    }
    return _object(installation, DEPLOYMENTS, {}, installation.deployment_labels, spec=spec)


def _pod(installation: Installed) -> dict[str, Any]:
    secrets = installation.values.image_pull_secrets
    return {
        "serviceAccountName": installation.name,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": GRACE_PERIOD,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "fsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **({"imagePullSecrets": [dict(each) for each in secrets]} if secrets else {}),
        "containers": [_container(installation)],
        "volumes": [volume for volume, _ in _volumes(installation)],
    }


def _scheduling(installation: Installed) -> dict[str, Any]:
    values = installation.values
    wishes: dict[str, Any] = {
        "priorityClassName": values.priority_class_name,
        "nodeSelector": dict(values.node_selector),
        "tolerations": [dict(each) for each in values.tolerations],
        "affinity": dict(values.affinity),
    }
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": installation.labels},
        }
        for key in (HOSTNAME, ZONE)
    ]
    return {**{name: wish for name, wish in wishes.items() if wish}, "topologySpreadConstraints": spread}


def _container(installation: Installed) -> dict[str, Any]:
    values, server = installation.values, installation.server
    ports = {"metrics": server.metrics.port, "health": server.health_probes.port}
    if installation.serving:
        ports["webhooks"] = server.webhooks.port
    process = installation.process
    arguments = ["run", installation.component, f"--config={folder(process)}/config/config.yaml"]
    if installation.record:
        arguments.append(f"--record=/var/lib/{process}/decisions.jsonl")
    container = {
        "name": process,
        "image": f"{values.image.repository}:{values.image.tag or installation.version}",
        "imagePullPolicy": values.image.pull_policy,
        "args": arguments,
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports.items()],
        "livenessProbe": _probe("/healthz", server.health_probes.port, initial=30, period=30, failures=5),
        "readinessProbe": _probe("/readyz", server.health_probes.port, initial=2, period=10, failures=3),
        "resources": {"requests": dict(values.resources.requests), "limits": dict(values.resources.limits)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [_mount(volume, path) for volume, path in _volumes(installation)],
    }
    if installation.target:
        container["env"] = [{"name": "TARGET_KUBECONFIG", "value": f"{TARGET_ACCESS}/kubeconfig"}]
    return container


def _mount(volume: Mapping[str, Any], path: str) -> Manifest:
    mount = {"name": volume["name"], "mountPath": path}
    return mount if "emptyDir" in volume else {**mount, "readOnly": True}


def _probe(path: str, port: int, *, initial: int, period: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
        "initialDelaySeconds": initial,
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _volumes(installation: Installed) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The volumes of a pod with their mount paths."""
    values = installation.values
    yield {"name": "config", "configMap": {"name": installation.name}}, f"{folder(installation.process)}/config"
    # As kubelets mount it by default, but with a token of the configured lifetime.
    seconds = values.service_account.token_expiration_seconds
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    api_access = (
        {"serviceAccountToken": {"path": "token", "expirationSeconds": seconds}},
        {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    )
    yield _projected("api-access", READABLE_BY_ALL, *api_access), API_ACCESS
    if serving := installation.serving:
        secret = {"secretName": serving.certificate_secret, "defaultMode": READABLE}
        yield {"name": "certificates", "secret": secret}, installation.server.webhooks.tls.server_cert_dir
    if target := installation.target:
        sources = [_file_of_secret(target.kubeconfig_secret, "kubeconfig")]
        if target.token_secret:
            sources.append(_file_of_secret(target.token_secret, "token"))
        yield _projected("target-access", READABLE, *sources), TARGET_ACCESS
    if installation.writes_temporary_files:
        yield {"name": "temporary", "emptyDir": {"sizeLimit": "1Gi"}}, "/tmp"  # noqa: S108 -- a volume of the pod
    if record := installation.record:
        yield {"name": "recording", "emptyDir": {"sizeLimit": record.size_limit}}, f"/var/lib/{installation.process}"


def _projected(name: str, mode: int, *sources: Manifest) -> Manifest:
    return {"name": name, "projected": {"defaultMode": mode, "sources": [*sources]}}


def _file_of_secret(secret: str, key: str) -> Manifest:
    return {"secret": {"name": secret, "items": [{"key": key, "path": key}]}}
