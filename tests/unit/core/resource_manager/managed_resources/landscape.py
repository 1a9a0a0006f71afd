"""A Deployment of realistic size, as its manifest has it and as an API server stores it; and changes anywhere."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from hedgerow.api.managed_resources import MANAGED_BY
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

INSTRUCTIONS: Final = Instructions("default/example", labels={MANAGED_BY: "gardener"})

_MAIN: Final[dict[str, Any]] = {
    "name": "main",
    "image": "registry.local/app:v1.2.3",
    "args": ["--a", "--b"],
    "ports": [{"name": "http", "containerPort": 8080}],
    "env": [
        {"name": "EMPTY", "value": ""},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "app", "key": "password", "optional": False}}},
    ],
    "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"memory": "2Gi"}},
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 5},
    "securityContext": {"allowPrivilegeEscalation": False},
    "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": True}],
}
_SIDE: Final = {"name": "side", "image": "registry.local/side", "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}  # noqa: S108 -- a path in a pod

DEPLOYMENT: Final[Manifest] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "app", "namespace": "web", "labels": {"app": "x"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "x"}},
        "template": {
            "metadata": {"labels": {"app": "x"}, "annotations": {"checksum/config": "abc"}},
            "spec": {
                "serviceAccountName": "runner",
                "automountServiceAccountToken": False,
                "affinity": {
                    "podAntiAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "weight": 1,
                                "podAffinityTerm": {
                                    "topologyKey": "zone",
                                    "labelSelector": {"matchLabels": {"app": "x"}},
                                },
                            }
                        ]
                    }
                },
                "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [_MAIN, _SIDE],
                "volumes": [{"name": "config", "configMap": {"name": "app"}}, {"name": "tmp", "emptyDir": {}}],
            },
        },
    },
}


def stored_deployment() -> dict[str, Any]:
    """What an API server stores of the Deployment; a new one each time, to be changed."""
    written: Any = merge(DEPLOYMENT, None, INSTRUCTIONS).unwrap()
    spec, template = written["spec"], written["spec"]["template"]
    filled = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    main = {
        **_MAIN,
        **filled,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {"name": "EMPTY"},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName", "apiVersion": "v1"}}},
            _MAIN["env"][2],
        ],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
            "initialDelaySeconds": 5,
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
    }
    pod = {
        **template["spec"],
        "serviceAccount": "runner",
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "containers": [main, {**_SIDE, **filled, "imagePullPolicy": "Always", "resources": {}}],
        "volumes": [
            {"name": "config", "configMap": {"name": "app", "defaultMode": 420}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }
    return {
        **written,
        "metadata": {
            **written["metadata"],
            "annotations": {**written["metadata"]["annotations"], "deployment.kubernetes.io/revision": "1"},
            "uid": "0",
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            **spec,
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {**template, "spec": pod},
        },
        "status": {"observedGeneration": 1, "replicas": 2},
    }


def everywhere(value: Any, change: Callable[[Any], Iterator[Any]], path: str = "") -> Iterator[tuple[str, Any]]:
    """The value with one thing changed somewhere in it, for all that can be, and where that is."""
    for changed in change(value):
        yield path, changed
    if isinstance(value, dict):
        for name, nested in value.items():
            yield from ((at, {**value, name: each}) for at, each in everywhere(nested, change, f"{path}.{name}"))
    elif isinstance(value, list):
        for place, nested in enumerate(value):
            for at, each in everywhere(nested, change, f"{path}[{place}]"):
                yield at, [*value[:place], each, *value[place + 1 :]]
