"""The storage rules of pods, of workloads and of volumes.

Source: Kubernetes API, Pod, Volume, PersistentVolume, PersistentVolumeClaim and groups apps and batch, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.reading import UnreadableError, object_at
from hedgerow.resource_manager.managed_resources.server_defaults.rules import StorageRule, rule, spec_rule

_FILES: Final = rule({"defaultMode": 0o644})
_RESOURCES: Final = rule(quantities="requests limits")


def _device(omitted: str = "", **defaults: Any) -> StorageRule:
    return rule(defaults, omitted=f"readOnly fsType partition {omitted} {' '.join(defaults)}")


def _labels_of_the_template(spec: Mapping[str, Any]) -> Any:
    """The selector of a ReplicationController that states none; a template of another shape has no labels."""
    try:
        return object_at(spec, "template", "metadata").get("labels")
    except UnreadableError:
        return None


_DEVICES: Final[Mapping[str, StorageRule]] = {
    **dict.fromkeys(
        (
            *("awsElasticBlockStore", "azureFile", "cinder", "fc", "flexVolume", "gcePersistentDisk", "glusterfs"),
            *("nfs", "portworxVolume", "storageos"),
        ),
        _device(),
    ),
    "azureDisk": rule({"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False}),
    "cephfs": _device("path secretFile user"),
    "flocker": _device("datasetName datasetUUID"),
    "hostPath": rule({"type": ""}),
    "iscsi": _device("chapAuthDiscovery chapAuthSession", iscsiInterface="default"),
    "quobyte": _device("group tenant user"),
    "rbd": _device(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "scaleIO": _device(storageMode="ThinProvisioned", fsType="xfs"),
    "vsphereVolume": _device("storagePolicyID storagePolicyName"),
}
"""Volume sources of pods and PersistentVolumes."""


def _claim(assigned: str = "") -> StorageRule:
    """The specification of a PersistentVolumeClaim."""
    return rule({"volumeMode": "Filesystem"}, omitted="volumeName", assigned=assigned, resources=_RESOURCES)


def _pull_policy(reference: Any) -> str:
    """An image that is named by no tag, or by `latest`, may be another one the next time."""
    name = str(reference or "").rpartition("/")[2]
    _, tagged, tag = name.partition("@")[0].partition(":")
    is_moving = tag == "latest" or not (tagged or "@" in name)
    return "Always" if is_moving else "IfNotPresent"


_HTTP_GET: Final = rule({"path": "/", "scheme": "HTTP"}, omitted="host path scheme")
_PROBE: Final = rule(
    {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    omitted="initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold",
    httpGet=_HTTP_GET,
    tcpSocket=rule(omitted="host"),
    grpc=rule({"service": ""}),
)
_HANDLER: Final = rule(httpGet=_HTTP_GET)
_DOWNWARD: Final = rule(
    fieldRef=rule({"apiVersion": "v1"}, omitted="apiVersion"),
    resourceFieldRef=rule({"divisor": "0"}, omitted="containerName", quantities="divisor"),
)

_CONTAINER: Final = rule(
    {
        "imagePullPolicy": lambda container: _pull_policy(container.get("image")),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    },
    omitted="image imagePullPolicy stdin stdinOnce terminationMessagePath terminationMessagePolicy tty workingDir",
    env=rule(omitted="value", valueFrom=_DOWNWARD),
    envFrom=rule(omitted="prefix"),
    lifecycle=rule(postStart=_HANDLER, preStop=_HANDLER),
    livenessProbe=_PROBE,
    ports=rule({"protocol": "TCP"}, omitted="hostPort hostIP name protocol"),
    readinessProbe=_PROBE,
    resources=_RESOURCES,
    startupProbe=_PROBE,
    volumeMounts=rule(omitted="readOnly subPath subPathExpr"),
)

_VOLUME: Final = rule(
    {},
    _DEVICES,
    configMap=_FILES,
    downwardAPI=rule(_FILES.defaults, items=_DOWNWARD),
    emptyDir=rule(omitted="medium", quantities="sizeLimit"),
    ephemeral=rule(volumeClaimTemplate=rule(spec=_claim())),
    image=rule({"pullPolicy": lambda volume: _pull_policy(volume.get("reference"))}, omitted="pullPolicy"),
    persistentVolumeClaim=rule(omitted="readOnly"),
    projected=rule(
        _FILES.defaults,
        sources=rule(
            downwardAPI=rule(items=_DOWNWARD), serviceAccountToken=rule({"expirationSeconds": 3600}, omitted="audience")
        ),
    ),
    secret=_FILES,
)

_POD: Final = spec_rule(
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
    tolerations=rule(omitted="key operator value effect"),
    volumes=_VOLUME,
)
"""A Pod, or the template of one. What is added to Pods themselves is added to the manifest in the merge."""


def _strategy(**defaults: Any) -> StorageRule:
    """How the pods of a workload are replaced."""
    return rule({"type": "RollingUpdate", "rollingUpdate": {}}, omitted="type", rollingUpdate=rule(defaults))


def _workload(defaults: Mapping[str, Any], annotation: str = "", **members: StorageRule) -> StorageRule:
    """A kind that makes pods from a template, by the defaults and members of its spec; a controller annotates it."""
    return rule(
        metadata=rule(annotations=rule(assigned=annotation)),
        spec=rule(defaults, members, omitted="minReadySeconds paused podManagementPolicy serviceName", template=_POD),
    )


RULES: Final[Mapping[tuple[str, str], StorageRule]] = {
    ("", "PersistentVolume"): spec_rule(
        {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
        _DEVICES,
        omitted="persistentVolumeReclaimPolicy storageClassName",
        assigned="claimRef",
        quantities="capacity",
        csi=_device(),
    ),
    ("", "PersistentVolumeClaim"): rule(spec=_claim(assigned="storageClassName volumeName")),
    ("", "Pod"): _POD,
    ("", "PodTemplate"): rule(template=_POD),
    ("", "ReplicationController"): _workload({"replicas": 1, "selector": _labels_of_the_template}),
    ("apps", "DaemonSet"): _workload(
        {"revisionHistoryLimit": 10, "updateStrategy": {}},
        "deprecated.daemonset.template.generation",
        updateStrategy=_strategy(maxSurge=0, maxUnavailable=1),
    ),
    ("apps", "Deployment"): _workload(
        {"progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10, "strategy": {}},
        "deployment.kubernetes.io/revision",
        strategy=_strategy(maxSurge="25%", maxUnavailable="25%"),
    ),
    ("apps", "ReplicaSet"): _workload({"replicas": 1}),
    ("apps", "StatefulSet"): _workload(
        {
            "persistentVolumeClaimRetentionPolicy": {},
            "podManagementPolicy": "OrderedReady",
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "updateStrategy": {},
        },
        persistentVolumeClaimRetentionPolicy=rule({"whenDeleted": "Retain", "whenScaled": "Retain"}),
        updateStrategy=_strategy(partition=0),
        volumeClaimTemplates=rule(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}, spec=_claim()
        ),
    ),
    ("batch", "CronJob"): spec_rule(
        {"concurrencyPolicy": "Allow", "failedJobsHistoryLimit": 1, "successfulJobsHistoryLimit": 3, "suspend": False},
        omitted="concurrencyPolicy",
        jobTemplate=spec_rule(template=_POD),
    ),
    ("batch", "Job"): spec_rule(
        {
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "completions": 1,
            "manualSelector": False,
            "parallelism": 1,
            "podReplacementPolicy": lambda job: "Failed" if job.get("podFailurePolicy") else "TerminatingOrFailed",
            "suspend": False,
        },
        podFailurePolicy=rule(rules=rule(onPodConditions=rule({"status": "True"}))),
        template=_POD,
    ),
}
