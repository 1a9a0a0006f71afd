"""A Deployment as landscapes have them: three containers, probes, volumes; seven to eight kilobytes of JSON."""

from typing import Any, Final

NAMESPACE: Final = "shoot--shop--front"
NAME: Final = "kube-apiserver"
TYPE_LABEL: Final = "high-availability-config.resources.gardener.cloud/type"

_LABELS: Final = {
    "app": "kubernetes",
    "role": "apiserver",
    "gardener.cloud/role": "controlplane",
    "networking.gardener.cloud/to-dns": "allowed",
    "networking.gardener.cloud/to-private-networks": "allowed",
    "networking.gardener.cloud/to-public-networks": "allowed",
    "networking.resources.gardener.cloud/to-etcd-main-client-tcp-2379": "allowed",
}
_SECRETS: Final = ("ca", "ca-client", "ca-etcd", "etcd-client", "server", "service-account-key", "static-token")


def deployment() -> dict[str, Any]:
    """The Deployment, of which no part is shared with another one."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {**_LABELS, TYPE_LABEL: "server", "resources.gardener.cloud/managed-by": "gardener"},
            "annotations": {"reference.resources.gardener.cloud/secret-1c2b3a4d": "server-5d6e7f"},
        },
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"app": "kubernetes", "role": "apiserver"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}},
            "template": {"metadata": {"labels": dict(_LABELS)}, "spec": _pod()},
        },
    }


def namespace() -> dict[str, Any]:
    """Its Namespace, which is to survive the loss of one of three zones."""
    domain = "high-availability-config.resources.gardener.cloud"
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": NAMESPACE,
            "labels": {f"{domain}/consider": "true", "gardener.cloud/role": "shoot"},
            "annotations": {
                f"{domain}/failure-tolerance-type": "zone",
                f"{domain}/zones": "europe-1a,europe-1b,europe-1c",
            },
        },
    }


def _pod() -> dict[str, Any]:
    return {
        "automountServiceAccountToken": False,
        "priorityClassName": "gardener-system-500",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "fsGroup": 65532},
        "containers": [_container("kube-apiserver", 22), _container("vpn-path", 10), _container("metrics", 6)],
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "control-plane", "effect": "NoSchedule"}],
        "volumes": [_volume(name) for name in _SECRETS],
    }


def _container(name: str, flags: int) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/control-plane/{name}:v1.27.4",
        "imagePullPolicy": "IfNotPresent",
        "command": [
            f"/usr/local/bin/{name}",
            *(f"--option-number-{number}=/srv/value/{number}" for number in range(flags)),
        ],
        "env": [{"name": f"SETTING_{number}", "value": f"value of setting {number}"} for number in range(4)],
        "ports": [{"name": "https", "containerPort": 443, "protocol": "TCP"}],
        "livenessProbe": _probe("/livez"),
        "readinessProbe": _probe("/readyz"),
        "resources": {"requests": {"cpu": "800m", "memory": "800Mi"}, "limits": {"memory": "4Gi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"name": secret, "mountPath": f"/srv/kubernetes/{secret}"} for secret in _SECRETS],
    }


def _probe(path: str) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": 443, "scheme": "HTTPS"},
        "initialDelaySeconds": 15,
        "periodSeconds": 10,
        "timeoutSeconds": 15,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def _volume(name: str) -> dict[str, Any]:
    return {"name": name, "projected": {"defaultMode": 420, "sources": [{"secret": {"name": f"{name}-5d6e7f"}}]}}
