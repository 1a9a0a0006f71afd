"""How an API server stores pods, what runs them, and their volumes.

Source: Kubernetes API, Pod, Volume, PersistentVolume, PersistentVolumeClaim and groups apps and batch, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored, stored

_FILES: Final = stored({"defaultMode": 0o644})
_RESOURCES: Final = stored(quantities="requests limits")


def _device(omitted: str = "", **defaults: Any) -> Stored:
    return stored(defaults, omitted=f"readOnly fsType partition {omitted} {' '.join(defaults)}")


_DEVICES: Final[Mapping[str, Stored]] = {
    **dict.fromkeys(
        (
            *("awsElasticBlockStore", "azureFile", "cinder", "fc", "flexVolume", "gcePersistentDisk", "glusterfs"),
            *("nfs", "portworxVolume", "storageos"),
        ),
        _device(),
    ),
    "azureDisk": stored({"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False}),
    "cephfs": _device("path secretFile user"),
    "flocker": _device("datasetName datasetUUID"),
    "hostPath": stored({"type": ""}),
    "iscsi": _device("chapAuthDiscovery chapAuthSession", iscsiInterface="default"),
    "quobyte": _device("group tenant user"),
    "rbd": _device(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "scaleIO": _device(storageMode="ThinProvisioned", fsType="xfs"),
    "vsphereVolume": _device("storagePolicyID storagePolicyName"),
}
"""Volume sources of pods and PersistentVolumes."""

PERSISTENT_VOLUME: Final = stored(
    spec=stored(
        {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
        _DEVICES,
        omitted="persistentVolumeReclaimPolicy storageClassName",
        assigned="claimRef",
        quantities="capacity",
        csi=_device(),
    )
)


def _claim(assigned: str = "") -> Stored:
    """The specification of a PersistentVolumeClaim."""
    return stored({"volumeMode": "Filesystem"}, omitted="volumeName", assigned=assigned, resources=_RESOURCES)


PERSISTENT_VOLUME_CLAIM: Final = stored(spec=_claim(assigned="storageClassName volumeName"))


def _pull_policy(reference: Any) -> str:
    """An image that is named by no tag, or by `latest`, may be another one the next time."""
    name = str(reference or "").rpartition("/")[2]
    _, tagged, tag = name.partition("@")[0].partition(":")
    is_moving = tag == "latest" or not (tagged or "@" in name)
    return "Always" if is_moving else "IfNotPresent"


_HTTP_GET: Final = stored({"path": "/", "scheme": "HTTP"}, omitted="host path scheme")
_PROBE: Final = stored(
    {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    omitted="initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold",
    httpGet=_HTTP_GET,
    tcpSocket=stored(omitted="host"),
    grpc=stored({"service": ""}),
)
_HANDLER: Final = stored(httpGet=_HTTP_GET)
_DOWNWARD: Final = stored(
    fieldRef=stored({"apiVersion": "v1"}, omitted="apiVersion"),
    resourceFieldRef=stored({"divisor": "0"}, omitted="containerName", quantities="divisor"),
)

_CONTAINER: Final = stored(
    {
        "imagePullPolicy": lambda container: _pull_policy(container.get("image")),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    },
    omitted="image imagePullPolicy stdin stdinOnce terminationMessagePath terminationMessagePolicy tty workingDir",
    env=stored(omitted="value", valueFrom=_DOWNWARD),
    envFrom=stored(omitted="prefix"),
    lifecycle=stored(postStart=_HANDLER, preStop=_HANDLER),
    livenessProbe=_PROBE,
    ports=stored({"protocol": "TCP"}, omitted="hostPort hostIP name protocol"),
    readinessProbe=_PROBE,
    resources=_RESOURCES,
    startupProbe=_PROBE,
    volumeMounts=stored(omitted="readOnly subPath subPathExpr"),
)

_VOLUME: Final = stored(
    {},
    _DEVICES,
    configMap=_FILES,
    downwardAPI=stored(_FILES.defaults, items=_DOWNWARD),
    emptyDir=stored(omitted="medium", quantities="sizeLimit"),
    ephemeral=stored(volumeClaimTemplate=stored(spec=_claim())),
    image=stored({"pullPolicy": lambda volume: _pull_policy(volume.get("reference"))}, omitted="pullPolicy"),
    persistentVolumeClaim=stored(omitted="readOnly"),
    projected=stored(
        _FILES.defaults,
        sources=stored(
            downwardAPI=stored(items=_DOWNWARD),
            serviceAccountToken=stored({"expirationSeconds": 3600}, omitted="audience"),
        ),
    ),
    secret=_FILES,
)

POD: Final = stored(
    spec=stored(
        {
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
            # The old name of the field is served with the new one. Only this way round: else neither would be drift.
            "serviceAccount": lambda pod: pod.get("serviceAccountName"),
        },
        omitted="dnsPolicy hostIPC hostNetwork hostPID hostname nodeName priorityClassName restartPolicy schedulerName "
        "serviceAccount serviceAccountName subdomain",
        quantities="overhead",
        containers=_CONTAINER,
        ephemeralContainers=_CONTAINER,
        initContainers=_CONTAINER,
        resources=_RESOURCES,
        tolerations=stored(omitted="key operator value effect"),
        volumes=_VOLUME,
    )
)
"""A Pod, or the template of one. What is added to Pods themselves is added to the manifest in the merge."""


def _strategy(**defaults: Any) -> Stored:
    """How the pods of a workload are replaced."""
    return stored({"type": "RollingUpdate", "rollingUpdate": {}}, omitted="type", rollingUpdate=stored(defaults))


def _workload(defaults: Mapping[str, Any], annotation: str = "", **members: Stored) -> Stored:
    """A kind that makes pods from a template.

    Args:
        defaults: of its specification.
        annotation: the one that its controller keeps at the object.
        members: rules of the members of its specification.
    """
    return stored(
        metadata=stored(annotations=stored(assigned=annotation)),
        spec=stored(defaults, members, omitted="minReadySeconds paused podManagementPolicy serviceName", template=POD),
    )


DEPLOYMENT: Final = _workload(
    {"progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10, "strategy": {}},
    "deployment.kubernetes.io/revision",
    strategy=_strategy(maxSurge="25%", maxUnavailable="25%"),
)

DAEMON_SET: Final = _workload(
    {"revisionHistoryLimit": 10, "updateStrategy": {}},
    "deprecated.daemonset.template.generation",
    updateStrategy=_strategy(maxSurge=0, maxUnavailable=1),
)

REPLICA_SET: Final = _workload({"replicas": 1})


def _labels_of_the_template(controller: Mapping[str, Any]) -> Any:
    """A controller that does not say which pods are its own means those that it makes."""
    value: Any = controller
    for name in ("template", "metadata", "labels"):
        value = value.get(name) if isinstance(value, (dict, Mapping)) else None
    return value


REPLICATION_CONTROLLER: Final = _workload({"replicas": 1, "selector": _labels_of_the_template})

STATEFUL_SET: Final = _workload(
    {
        "persistentVolumeClaimRetentionPolicy": {},
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "updateStrategy": {},
    },
    persistentVolumeClaimRetentionPolicy=stored({"whenDeleted": "Retain", "whenScaled": "Retain"}),
    updateStrategy=_strategy(partition=0),
    volumeClaimTemplates=stored(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}, spec=_claim()
    ),
)

JOB: Final = stored(
    spec=stored(
        {
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "completions": 1,
            "manualSelector": False,
            "parallelism": 1,
            "podReplacementPolicy": lambda job: "Failed" if job.get("podFailurePolicy") else "TerminatingOrFailed",
            "suspend": False,
        },
        podFailurePolicy=stored(rules=stored(onPodConditions=stored({"status": "True"}))),
        template=POD,
    )
)

CRON_JOB: Final = stored(
    spec=stored(
        {"concurrencyPolicy": "Allow", "failedJobsHistoryLimit": 1, "successfulJobsHistoryLimit": 3, "suspend": False},
        omitted="concurrencyPolicy",
        jobTemplate=stored(spec=stored(template=POD)),
    )
)
