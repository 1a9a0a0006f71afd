"""The pods of an installation and what is around them, such that the restricted Pod Security level admits them.

Source: managed-resources §4.2, §4.3; Kubernetes documentation, "Pod Security Standards".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.admission.registration import HIGH_AVAILABILITY, skip_label
from hedgerow.api.kubernetes import HOSTNAME, ZONE
from hedgerow.api.network_policies import (
    ALL_WEBHOOK_TARGETS,
    ALLOWED_PORTS_PREFIX,
    ALLOWED_PORTS_SUFFIX,
    FROM_WORLD_TO_PORTS,
)
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.installation.installation import FOLDER, Installation, fingerprint

CONTAINER: Final = "gardener-resource-manager"
CONFIG_FILE: Final = "config.yaml"
CONFIG_FOLDER: Final = f"{FOLDER}/config"
API_ACCESS: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TARGET_ACCESS: Final = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig"
"""Where Gardener's kubeconfigs look for the token beside them."""
RECORDING: Final = "/var/lib/gardener-resource-manager"
RECORD_FILE: Final = f"{RECORDING}/decisions.jsonl"
NOBODY: Final = 65532
"""User and group of the process."""
READABLE: Final = 0o440
READABLE_BY_ALL: Final = 0o444
HTTPS: Final = 443
OLD_REVISIONS: Final = 2
GRACE_PERIOD: Final = 30
"""Seconds for a stop: 15 at most, and `server.webhooks.shutdownDelay`. A preStop hook would only take time from it, as
the process itself goes on to answer webhooks."""
ROOT_AUTHORITIES: Final = "kube-root-ca.crt"
FROM_WEBHOOK_TARGETS: Final = f"{ALLOWED_PORTS_PREFIX}{ALL_WEBHOOK_TARGETS}{ALLOWED_PORTS_SUFFIX}"


def service_account(installation: Installation) -> Manifest:
    """The account of the pods, whose token they mount themselves."""
    metadata = _metadata(installation)
    if installation.values.service_account.annotations:
        metadata["annotations"] = dict(installation.values.service_account.annotations)
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": False,
    }


def config_map(installation: Installation, text: str) -> Manifest:
    """The component configuration as a file."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(installation),
        "data": {CONFIG_FILE: text},
    }


def service(installation: Installation) -> Manifest:
    """How API servers find the webhooks, and whoever collects metrics finds these."""
    metadata = _metadata(installation)
    if annotations := {**_openings(installation), **installation.values.service.annotations}:
        metadata["annotations"] = annotations
    server = installation.configuration.server
    ports = [_service_port("metrics", server.metrics.port, server.metrics.port)]
    if installation.serves_webhooks:
        ports.append(_service_port("webhooks", HTTPS, server.webhooks.port))
    spec = {"type": "ClusterIP", "selector": installation.labels, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _openings(installation: Installation) -> dict[str, str]:
    """The annotation by which NetworkPolicies let API servers reach the webhooks.

    The API server of the own cluster is anywhere; that of a separate target is a pod that is labelled for it.
    """
    if not installation.serves_webhooks:
        return {}
    annotation = FROM_WEBHOOK_TARGETS if installation.target_is_separate else FROM_WORLD_TO_PORTS
    return {annotation: f'[{{"protocol":"TCP","port":{installation.configuration.server.webhooks.port}}}]'}


def pod_disruption_budget(installation: Installation) -> Manifest:
    """That people drain nodes one after the other."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(installation),
        "spec": {
            "maxUnavailable": installation.values.pod_disruption_budget.max_unavailable,
            "selector": {"matchLabels": installation.labels},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def deployment(installation: Installation) -> Manifest:
    """The pods; other ones as soon as the component configuration is another."""
    values = installation.values
    labels = {**values.pod_labels, **installation.labels}
    if installation.target_is_separate:
        labels = {**values.target.pod_labels, **labels}
    annotations = {**values.pod_annotations, "checksum/config": fingerprint(installation.document)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**_metadata(installation), "labels": {**installation.labels, **_skipping(installation)}},
        "spec": {
            "replicas": values.replicas,
            "revisionHistoryLimit": OLD_REVISIONS,
            "selector": {"matchLabels": installation.labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations},
                "spec": {**_pod(installation), **_scheduling(installation)},
            },
        },
    }


def _skipping(installation: Installation) -> dict[str, str]:
    """The label by which replicas can be scaled while none answers. Webhooks of a separate target never see them."""
    return {} if installation.target_is_separate else {skip_label(HIGH_AVAILABILITY): "true"}


def _metadata(installation: Installation) -> dict[str, Any]:
    return {"name": installation.name, "namespace": installation.namespace, "labels": installation.labels}


def _service_port(name: str, port: int, target: int) -> Manifest:
    return {"name": name, "port": port, "targetPort": target, "protocol": "TCP"}


def _pod(installation: Installation) -> dict[str, Any]:
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


def _scheduling(installation: Installation) -> dict[str, Any]:
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


def _container(installation: Installation) -> dict[str, Any]:
    values, server = installation.values, installation.configuration.server
    ports = {"metrics": server.metrics.port, "health": server.health_probes.port}
    if installation.serves_webhooks:
        ports["webhooks"] = server.webhooks.port
    container = {
        "name": CONTAINER,
        "image": f"{values.image.repository}:{values.image.tag or installation.version}",
        "imagePullPolicy": values.image.pull_policy,
        "args": _arguments(installation),
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
    if installation.target_is_separate:
        container["env"] = [{"name": "TARGET_KUBECONFIG", "value": f"{TARGET_ACCESS}/kubeconfig"}]
    return container


def _arguments(installation: Installation) -> list[str]:
    arguments = ["run", "resource-manager", f"--config={CONFIG_FOLDER}/{CONFIG_FILE}"]
    return [*arguments, f"--record={RECORD_FILE}"] if installation.values.record.enabled else arguments


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


def _volumes(installation: Installation) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The volumes of a pod, each with the path that it is mounted at."""
    values = installation.values
    yield {"name": "config", "configMap": {"name": installation.name}}, CONFIG_FOLDER
    yield _projected("api-access", READABLE_BY_ALL, *_api_access(installation)), API_ACCESS
    if installation.serves_webhooks:
        secret = {"secretName": values.webhooks.certificate_secret, "defaultMode": READABLE}
        yield {"name": "certificates", "secret": secret}, installation.configuration.server.webhooks.tls.server_cert_dir
    if installation.target_is_separate:
        sources = [_file_of_secret(values.target.kubeconfig_secret, "kubeconfig")]
        if values.target.token_secret:
            sources.append(_file_of_secret(values.target.token_secret, "token"))
        yield _projected("target-access", READABLE, *sources), TARGET_ACCESS
    if values.record.enabled:
        yield {"name": "recording", "emptyDir": {"sizeLimit": values.record.size_limit}}, RECORDING


def _projected(name: str, mode: int, *sources: Manifest) -> Manifest:
    return {"name": name, "projected": {"defaultMode": mode, "sources": [*sources]}}


def _api_access(installation: Installation) -> tuple[Manifest, ...]:
    """What kubelets put there for pods that leave it to them, but with a token of the wanted lifetime."""
    seconds = installation.values.service_account.token_expiration_seconds
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return (
        {"serviceAccountToken": {"path": "token", "expirationSeconds": seconds}},
        {"configMap": {"name": ROOT_AUTHORITIES, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    )


def _file_of_secret(secret: str, key: str) -> Manifest:
    return {"secret": {"name": secret, "items": [{"key": key, "path": key}]}}
