"""How an API server stores what runs pods.

Source: Kubernetes API, groups apps and batch, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.server_defaults.pods import POD_TEMPLATE
from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored
from hedgerow.resource_manager.managed_resources.server_defaults.volumes import CLAIM

_REVISIONS: Final = 10


def _strategy(**defaults: Any) -> Stored:
    """How the pods of a workload are replaced."""
    return Stored(
        {"type": "RollingUpdate", "rollingUpdate": {}},
        omitted=frozenset({"type"}),
        members={"rollingUpdate": Stored(defaults)},
    )


def _workload(defaults: Mapping[str, Any], members: Mapping[str, Stored], *controllers: str) -> Stored:
    """A kind that makes pods from a template.

    Args:
        defaults: what its specification is completed with.
        members: rules of the members of its specification.
        controllers: annotations that its controller keeps at the object.
    """
    return Stored(
        members={
            "metadata": Stored(members={"annotations": Stored(assigned=frozenset(controllers))}),
            "spec": Stored(
                defaults,
                omitted=frozenset({"minReadySeconds", "paused", "podManagementPolicy", "serviceName"}),
                members={"template": POD_TEMPLATE, **members},
            ),
        }
    )


DEPLOYMENT: Final = _workload(
    {"progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": _REVISIONS, "strategy": {}},
    {"strategy": _strategy(maxSurge="25%", maxUnavailable="25%")},
    "deployment.kubernetes.io/revision",
)

DAEMON_SET: Final = _workload(
    {"revisionHistoryLimit": _REVISIONS, "updateStrategy": {}},
    {"updateStrategy": _strategy(maxSurge=0, maxUnavailable=1)},
    "deprecated.daemonset.template.generation",
)

REPLICA_SET: Final = _workload({"replicas": 1}, {})


def _labels_of_the_template(controller: Mapping[str, Any]) -> Any:
    """A controller that does not say which pods are its own means those that it makes."""
    value: Any = controller
    for name in ("template", "metadata", "labels"):
        value = value.get(name) if isinstance(value, (dict, Mapping)) else None
    return value


REPLICATION_CONTROLLER: Final = _workload({"replicas": 1, "selector": _labels_of_the_template}, {})

STATEFUL_SET: Final = _workload(
    {
        "persistentVolumeClaimRetentionPolicy": {},
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": _REVISIONS,
        "updateStrategy": {},
    },
    {
        "persistentVolumeClaimRetentionPolicy": Stored({"whenDeleted": "Retain", "whenScaled": "Retain"}),
        "updateStrategy": _strategy(partition=0),
        "volumeClaimTemplates": Stored(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}},
            members={"spec": CLAIM},
        ),
    },
)


_JOB_SPEC: Final = Stored(
    {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "manualSelector": False,
        "parallelism": 1,
        "podReplacementPolicy": lambda job: "Failed" if job.get("podFailurePolicy") else "TerminatingOrFailed",
        "suspend": False,
    },
    members={
        "podFailurePolicy": Stored(
            members={"rules": Stored(members={"onPodConditions": Stored({"status": "True"})})},
        ),
        "template": POD_TEMPLATE,
    },
)

JOB: Final = Stored(members={"spec": _JOB_SPEC})

CRON_JOB: Final = Stored(
    members={
        "spec": Stored(
            {
                "concurrencyPolicy": "Allow",
                "failedJobsHistoryLimit": 1,
                "successfulJobsHistoryLimit": 3,
                "suspend": False,
            },
            omitted=frozenset({"concurrencyPolicy"}),
            members={"jobTemplate": Stored(members={"spec": Stored(members={"template": POD_TEMPLATE})})},
        )
    }
)
