"""The DaemonSet that undoes on every node of a Shoot what the extension has configured, and its ManagedResource.

Its pods become ready once the script has succeeded, so that a healthy DaemonSet means that every node is clean.

Source: rsyslog-relp §6.
"""

from dataclasses import dataclass
from typing import Final

from hedgerow.machinery.documents.yaml_writing import sorted_yaml
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.builder import new_for_shoot, new_secret
from hedgerow.rsyslog_relp.naming import CLEANER, CLEANER_MANAGED_RESOURCE, TYPE
from hedgerow.rsyslog_relp.rendering import HOST, cleaner_script

_FILE: Final = f"daemonset__kube-system__{CLEANER}.yaml"
_LABELS: Final = {"app.kubernetes.io/name": CLEANER, "app.kubernetes.io/instance": CLEANER}


@dataclass(frozen=True, slots=True)
class CleanerImages:
    """The images of the DaemonSet."""

    alpine: str = "europe-docker.pkg.dev/gardener-project/releases/3rd/alpine:3.18.4"
    pause: str = "registry.k8s.io/pause:3.9"

    @property
    def problem(self) -> str | None:
        """What is missing, if anything."""
        missing = next((name for name in ("alpine", "pause") if not getattr(self, name)), None)
        return missing and f"failed to find the {missing} image: no image is configured"


def cleaner_daemon_set(images: CleanerImages) -> Manifest:
    """The DaemonSet, for `kube-system` of a Shoot.

    Args:
        images: not empty.
    """
    volume = "host-root-volume"
    cleaning = {
        "name": CLEANER,
        "image": images.alpine,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", cleaner_script()],
        "resources": {"requests": {"cpu": "2m", "memory": "8Mi"}, "limits": {"memory": "32Mi"}},
        "volumeMounts": [{"name": volume, "mountPath": HOST, "mountPropagation": "HostToContainer"}],
    }
    pause = {"name": "pause-container", "image": images.pause, "imagePullPolicy": "IfNotPresent"}
    pod = {
        "automountServiceAccountToken": False,
        "hostPID": True,
        "priorityClassName": "gardener-shoot-system-700",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "initContainers": [cleaning],
        "containers": [pause],
        "volumes": [{"name": volume, "hostPath": {"path": "/"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": CLEANER, "namespace": "kube-system", "labels": _LABELS},
        "spec": {"selector": {"matchLabels": _LABELS}, "template": {"metadata": {"labels": _LABELS}, "spec": pod}},
    }


def cleaner_objects(namespace: str, images: CleanerImages) -> tuple[Manifest, Manifest]:
    """The Secret with the DaemonSet, and the ManagedResource that names it, in the namespace of a Shoot.

    Args:
        namespace: of the Shoot's control plane.
        images: not empty.
    """
    content = {_FILE: sorted_yaml(cleaner_daemon_set(images)).encode()}
    secret = new_secret(namespace, CLEANER_MANAGED_RESOURCE, content, with_prefix=True)
    name = secret["metadata"]["name"]
    return secret, new_for_shoot(
        namespace, CLEANER_MANAGED_RESOURCE, secret_names=(name,), origin=TYPE, keep_objects=False
    )
