"""How an API server stores pod templates.

Source: Kubernetes API, Pod, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.stored.rules import Stored

_FILE_MODE: Final = 0o644
_TOKEN_SECONDS: Final = 3600


def _image_pull_policy(container: Mapping[str, Any]) -> str:
    """An image that is named by no tag, or by `latest`, may be another one the next time."""
    name = str(container.get("image") or "").rpartition("/")[2]
    _, tagged, tag = name.partition("@")[0].partition(":")
    is_moving = tag == "latest" or not (tagged or "@" in name)
    return "Always" if is_moving else "IfNotPresent"


_HTTP_GET: Final = Stored({"path": "/", "scheme": "HTTP"}, omitted=frozenset({"host"}))
_PROBE: Final = Stored(
    {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    omitted=frozenset(
        {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}
    ),
    members={"httpGet": _HTTP_GET, "tcpSocket": Stored(omitted=frozenset({"host"})), "grpc": Stored({"service": ""})},
)
_HANDLER: Final = Stored(members={"httpGet": _HTTP_GET})
_FIELD_REF: Final = Stored({"apiVersion": "v1"})
_RESOURCE_FIELD_REF: Final = Stored(
    {"divisor": "0"}, omitted=frozenset({"containerName"}), quantities=frozenset({"divisor"})
)
_DOWNWARD_FIELDS: Final = {"fieldRef": _FIELD_REF, "resourceFieldRef": _RESOURCE_FIELD_REF}
_RESOURCES: Final = Stored(quantities=frozenset({"requests", "limits"}))

_CONTAINER: Final = Stored(
    {
        "imagePullPolicy": _image_pull_policy,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    },
    omitted=frozenset({"stdin", "stdinOnce", "tty", "workingDir", "image"}),
    members={
        "env": Stored(omitted=frozenset({"value"}), members={"valueFrom": Stored(members=_DOWNWARD_FIELDS)}),
        "envFrom": Stored(omitted=frozenset({"prefix"})),
        "lifecycle": Stored(members={"postStart": _HANDLER, "preStop": _HANDLER}),
        "livenessProbe": _PROBE,
        "ports": Stored({"protocol": "TCP"}, omitted=frozenset({"hostPort", "hostIP", "name"})),
        "readinessProbe": _PROBE,
        "resources": _RESOURCES,
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
_FILES: Final = Stored({"defaultMode": _FILE_MODE})
_READ_ONLY: Final = Stored(omitted=frozenset({"readOnly", "fsType", "partition"}))

CLAIM: Final = Stored(
    {"volumeMode": "Filesystem"}, members={"resources": _RESOURCES}, omitted=frozenset({"volumeName"})
)
"""The specification of a PersistentVolumeClaim."""

_VOLUME: Final = Stored(
    members={
        "awsElasticBlockStore": _READ_ONLY,
        "configMap": _FILES,
        "downwardAPI": Stored({"defaultMode": _FILE_MODE}, members={"items": Stored(members=_DOWNWARD_FIELDS)}),
        "emptyDir": Stored(omitted=frozenset({"medium"}), quantities=frozenset({"sizeLimit"})),
        "ephemeral": Stored(members={"volumeClaimTemplate": Stored(members={"spec": CLAIM})}),
        "gcePersistentDisk": _READ_ONLY,
        "hostPath": Stored({"type": ""}),
        "nfs": _READ_ONLY,
        "persistentVolumeClaim": _READ_ONLY,
        "projected": Stored({"defaultMode": _FILE_MODE}, members={"sources": _PROJECTED_SOURCE}),
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
            "hostIPC",
            "hostNetwork",
            "hostPID",
            "hostname",
            "nodeName",
            "priorityClassName",
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
        "resources": _RESOURCES,
        "tolerations": Stored(omitted=frozenset({"key", "operator", "value", "effect"})),
        "volumes": _VOLUME,
    },
)
"""The specification of a pod in a template. Of Pods themselves servers change more, with webhooks and schedulers."""

POD_TEMPLATE: Final = Stored(members={"spec": POD_SPEC})
