"""How an API server stores pod templates.

Source: Kubernetes API, Pod, version 1.36.
"""

from typing import Any, Final

from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored
from hedgerow.resource_manager.managed_resources.server_defaults.volumes import CLAIM, DEVICES, FILE_MODE, RESOURCES

_TOKEN_SECONDS: Final = 3600


def _pull_policy(reference: Any) -> str:
    """An image that is named by no tag, or by `latest`, may be another one the next time."""
    name = str(reference or "").rpartition("/")[2]
    _, tagged, tag = name.partition("@")[0].partition(":")
    is_moving = tag == "latest" or not (tagged or "@" in name)
    return "Always" if is_moving else "IfNotPresent"


_HTTP_GET: Final = Stored({"path": "/", "scheme": "HTTP"}, omitted=frozenset({"host", "path", "scheme"}))
_PROBE: Final = Stored(
    {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    omitted=frozenset(
        {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}
    ),
    members={"httpGet": _HTTP_GET, "tcpSocket": Stored(omitted=frozenset({"host"})), "grpc": Stored({"service": ""})},
)
_HANDLER: Final = Stored(members={"httpGet": _HTTP_GET})
_FIELD_REF: Final = Stored({"apiVersion": "v1"}, omitted=frozenset({"apiVersion"}))
_RESOURCE_FIELD_REF: Final = Stored(
    {"divisor": "0"}, omitted=frozenset({"containerName"}), quantities=frozenset({"divisor"})
)
_DOWNWARD_FIELDS: Final = {"fieldRef": _FIELD_REF, "resourceFieldRef": _RESOURCE_FIELD_REF}

_CONTAINER: Final = Stored(
    {
        "imagePullPolicy": lambda container: _pull_policy(container.get("image")),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    },
    omitted=frozenset(
        {
            "image",
            "imagePullPolicy",
            "stdin",
            "stdinOnce",
            "terminationMessagePath",
            "terminationMessagePolicy",
            "tty",
            "workingDir",
        }
    ),
    members={
        "env": Stored(omitted=frozenset({"value"}), members={"valueFrom": Stored(members=_DOWNWARD_FIELDS)}),
        "envFrom": Stored(omitted=frozenset({"prefix"})),
        "lifecycle": Stored(members={"postStart": _HANDLER, "preStop": _HANDLER}),
        "livenessProbe": _PROBE,
        "ports": Stored({"protocol": "TCP"}, omitted=frozenset({"hostPort", "hostIP", "name", "protocol"})),
        "readinessProbe": _PROBE,
        "resources": RESOURCES,
        "startupProbe": _PROBE,
        "volumeMounts": Stored(omitted=frozenset({"readOnly", "subPath", "subPathExpr"})),
    },
)

_PROJECTED_SOURCE: Final = Stored(
    members={
        "downwardAPI": Stored(members={"items": Stored(members=_DOWNWARD_FIELDS)}),
        "serviceAccountToken": Stored({"expirationSeconds": _TOKEN_SECONDS}, omitted=frozenset({"audience"})),
    }
)
_FILES: Final = Stored({"defaultMode": FILE_MODE})

_VOLUME: Final = Stored(
    members={
        **DEVICES,
        "configMap": _FILES,
        "downwardAPI": Stored({"defaultMode": FILE_MODE}, members={"items": Stored(members=_DOWNWARD_FIELDS)}),
        "emptyDir": Stored(omitted=frozenset({"medium"}), quantities=frozenset({"sizeLimit"})),
        "ephemeral": Stored(members={"volumeClaimTemplate": Stored(members={"spec": CLAIM})}),
        "image": Stored(
            {"pullPolicy": lambda volume: _pull_policy(volume.get("reference"))}, omitted=frozenset({"pullPolicy"})
        ),
        "persistentVolumeClaim": Stored(omitted=frozenset({"readOnly"})),
        "projected": Stored({"defaultMode": FILE_MODE}, members={"sources": _PROJECTED_SOURCE}),
        "secret": _FILES,
    },
)

POD_SPEC: Final = Stored(
    {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        # The old name of the field is served with the new one. Only this way round: else neither would ever be drift.
        "serviceAccount": lambda pod: pod.get("serviceAccountName"),
    },
    omitted=frozenset(
        {
            "dnsPolicy",
            "hostIPC",
            "hostNetwork",
            "hostPID",
            "hostname",
            "nodeName",
            "priorityClassName",
            "restartPolicy",
            "schedulerName",
            "serviceAccount",
            "serviceAccountName",
            "subdomain",
        }
    ),
    quantities=frozenset({"overhead"}),
    members={
        "containers": _CONTAINER,
        "ephemeralContainers": _CONTAINER,
        "initContainers": _CONTAINER,
        "resources": RESOURCES,
        "tolerations": Stored(omitted=frozenset({"key", "operator", "value", "effect"})),
        "volumes": _VOLUME,
    },
)
"""The specification of a pod in a template. What is added to Pods themselves is added to the manifest in the merge."""

POD_TEMPLATE: Final = Stored(members={"spec": POD_SPEC})

POD: Final = Stored(members={"spec": POD_SPEC})

POD_TEMPLATES: Final = Stored(members={"template": POD_TEMPLATE})
"""The objects that hold nothing but a template."""

RUNTIME_CLASS: Final = Stored(members={"overhead": Stored(quantities=frozenset({"podFixed"}))})
