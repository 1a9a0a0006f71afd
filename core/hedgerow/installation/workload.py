"""The pods of an installation, which the restricted Pod Security level admits, and the objects around them.

Source: managed-resources §4.2, §4.3; Kubernetes documentation, "Pod Security Standards".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from hedgerow.api.network_policies import (
    ALL_WEBHOOK_TARGETS,
    ALLOWED_PORTS_PREFIX,
    ALLOWED_PORTS_SUFFIX,
    FROM_WORLD_TO_PORTS,
)
from hedgerow.installation.certificates import registrations_file
from hedgerow.installation.completion import REGISTRATIONS, fingerprint, folder
from hedgerow.installation.installation import NOTHING, Installation
from hedgerow.installation.pod_values import Probe
from hedgerow.machinery.configuration.process import Provision
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.objects import Manifest, Resource

Installed: TypeAlias = Installation[Any, Any]
API_ACCESS: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TARGET_ACCESS: Final = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig"
"""Where Gardener's kubeconfigs look for the token beside them."""
ROOT_CA: Final = "kube-root-ca.crt"
"""The ConfigMap that Kubernetes puts into every namespace."""
READABLE: Final = 0o440
READABLE_BY_ALL: Final = 0o444


def placed(
    installation: Installed,
    resource: Resource,
    annotations: Mapping[str, str] = NOTHING,
    labels: Mapping[str, str] = NOTHING,
    **fields: Any,
) -> Manifest:
    """An object in the namespace of the process, of the name of the process."""
    metadata: dict[str, Any] = {"name": installation.name, "namespace": installation.namespace}
    for name, marks in (("labels", labels), ("annotations", annotations)):
        if marks:
            metadata[name] = dict(marks)
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def service_account(installation: Installed) -> Manifest:
    """The account of the pods, whose token they mount themselves."""
    annotations = installation.values.service_account.annotations
    return placed(installation, SERVICE_ACCOUNTS, annotations, automountServiceAccountToken=False)


def config_map(installation: Installed, text: str) -> Manifest:
    """The component configuration as a file, and what a process registers itself."""
    listed = registrations_file(installation)
    files = {REGISTRATIONS: sorted_yaml(listed)} if listed else {}
    return placed(installation, CONFIG_MAPS, data={"config.yaml": text, **files})


def service(installation: Installed) -> Manifest:
    """The Service of webhooks and metrics.

    An annotation lets API servers reach the webhooks: that of the own cluster may be anywhere, that of a separate
    target is a pod with a label for it.
    """
    annotations, server = installation.values.service.annotations, installation.server
    ports = [
        _service_port("metrics", server.metrics.port, server.metrics.port),
        _service_port("health", server.health_probes.port, server.health_probes.port),
    ]
    if installation.serving:
        ports.append(_service_port("webhooks", 443, server.webhooks.port))
        from_targets = f"{ALLOWED_PORTS_PREFIX}{ALL_WEBHOOK_TARGETS}{ALLOWED_PORTS_SUFFIX}"
        annotation = from_targets if installation.target else FROM_WORLD_TO_PORTS
        annotations = {annotation: f'[{{"protocol":"TCP","port":{server.webhooks.port}}}]', **annotations}
    spec = {"type": "ClusterIP", "selector": installation.selector, "ports": ports}
    return placed(installation, SERVICES, annotations, spec=spec)


def _service_port(name: str, port: int, target: int) -> Manifest:
    return {"name": name, "port": port, "targetPort": target, "protocol": "TCP"}


def deployment(installation: Installed) -> Manifest:
    """The pods, which are replaced when the component configuration changes."""
    values = installation.values
    labels = {**values.pod_labels, **installation.pod_labels, **installation.labels}
    if target := installation.target:
        labels = {**target.pod_labels, **labels}
    annotations = {**values.pod_annotations, "checksum/config": fingerprint(installation.document)}
    if listed := registrations_file(installation):
        annotations["checksum/webhooks"] = fingerprint(listed)
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {**_pod(installation), **_scheduling(installation)},
    }
    spec: dict[str, Any] = {
        "replicas": values.replicas,
        "revisionHistoryLimit": values.revision_history_limit,
        "selector": {"matchLabels": installation.selector},
        "template": template,
        **_stated(strategy=values.strategy),
    }
    return placed(installation, DEPLOYMENTS, labels=installation.deployment_labels, spec=spec)


def _stated(**fields: Any) -> dict[str, Any]:
    """Those fields that are not empty."""
    return {name: value for name, value in fields.items() if value}


def _pod(installation: Installed) -> dict[str, Any]:
    values = installation.values
    return {
        "serviceAccountName": installation.name,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": values.termination_grace_period_seconds,
        "securityContext": dict(values.pod_security_context),
        **_stated(imagePullSecrets=[*values.image_pull_secrets]),
        "containers": [_container(installation)],
        "volumes": [*(volume for volume, _ in _volumes(installation)), *values.extra_volumes],
    }


def _scheduling(installation: Installed) -> dict[str, Any]:
    values, own = installation.values, {"matchLabels": installation.selector}
    return _stated(
        priorityClassName=values.priority_class_name,
        nodeSelector=dict(values.node_selector),
        tolerations=[*values.tolerations],
        affinity=dict(values.affinity),
        hostNetwork=values.host_network,
        dnsPolicy=values.dns_policy or ("ClusterFirstWithHostNet" if values.host_network else ""),
        topologySpreadConstraints=[{"labelSelector": own, **each} for each in values.topology_spread_constraints],
    )


def _container(installation: Installed) -> dict[str, Any]:
    values, server = installation.values, installation.server
    ports = {"metrics": server.metrics.port, "health": server.health_probes.port}
    if installation.serving:
        ports["webhooks"] = server.webhooks.port
    process = installation.process
    arguments = ["run", installation.component, f"--config={folder(process)}/config/config.yaml"]
    if installation.record:
        arguments.append(f"--record=/var/lib/{process}/decisions.jsonl")
    environment = [{"name": "TARGET_KUBECONFIG", "value": f"{TARGET_ACCESS}/kubeconfig"}] if installation.target else []
    return {
        "name": process,
        "image": values.image.reference(installation.version),
        "imagePullPolicy": values.image.pull_policy,
        "args": [*arguments, *values.extra_args],
        **_stated(env=[*environment, *values.env], lifecycle=dict(values.lifecycle)),
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports.items()],
        "livenessProbe": _probe("/healthz", server.health_probes.port, values.probes.liveness),
        "readinessProbe": _probe("/readyz", server.health_probes.port, values.probes.readiness),
        "resources": {"requests": dict(values.resources.requests), "limits": dict(values.resources.limits)},
        "securityContext": dict(values.security_context),
        "volumeMounts": [
            *(_mount(volume, path) for volume, path in _volumes(installation)),
            *values.extra_volume_mounts,
        ],
    }


def _mount(volume: Mapping[str, Any], path: str) -> Manifest:
    mount = {"name": volume["name"], "mountPath": path}
    return mount if "emptyDir" in volume else {**mount, "readOnly": True}


def _probe(path: str, port: int, probe: Probe) -> Manifest:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}, **probe.model_dump(by_alias=True)}


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
    if (serving := installation.serving) and installation.provision is not Provision.SELF:
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
