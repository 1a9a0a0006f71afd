"""What `hedgerow install` lets the process do in both clusters, and nothing beside."""

from pathlib import Path
from typing import Any, Final

import yaml

from tests.e2e.managed_resources.manifests import named
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest
from tests.e2e.permissions import ACCOUNT, account_kubeconfig
from tests.e2e.resource_manager import run_here

ROLES: Final = ("ClusterRole", "Role")
BINDINGS: Final = ("ClusterRoleBinding", "RoleBinding")
APPLIED: Final = [
    {
        "apiGroups": [group],
        "resources": [plural],
        "verbs": ["get", "list", "watch", "create", "patch", "update", "delete"],
    }
    for group, plural in (("", "configmaps"), ("apps", "deployments"))
]
"""What the ManagedResources of these tests deliver."""


class Roles:
    """Of one of the clusters."""

    def __init__(
        self, cluster: ManagedResourceSandbox, part: str, namespace: str, config: Manifest, folder: Path
    ) -> None:
        """Make the roles, which nobody has yet.

        Args:
            cluster: where.
            part: which of the two clusters that is, as `hedgerow install` calls it.
            namespace: where the process runs.
            config: the component configuration.
            folder: where there is room for a file.
        """
        self._cluster = cluster
        self._folder = folder
        rendered = _rendered(part, namespace, config, folder)
        cluster.create(*(each for each in rendered if each["kind"] in ROLES))
        self._bindings = [each for each in rendered if each["kind"] in BINDINGS]

    def account(self, namespace: str) -> Path:
        """A kubeconfig of a new account in a new namespace, which has the roles."""
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}
        self._cluster.create(
            named("v1", "Namespace", "", namespace),
            named("v1", "ServiceAccount", namespace, ACCOUNT),
            *(_bound(binding, subject) for binding in self._bindings),
        )
        return account_kubeconfig(self._cluster.control_plane, namespace, self._folder)


def _bound(binding: Manifest, subject: dict[str, str]) -> Manifest:
    metadata = {**binding["metadata"], "name": f"{binding['metadata']['name']}:{subject['namespace']}"}
    return {**binding, "metadata": metadata, "subjects": [subject]}


def _rendered(part: str, namespace: str, config: Manifest, folder: Path) -> list[dict[str, Any]]:
    values = folder / "values.yaml"
    settings = {"config": config, "target": {"kubeconfigSecret": "target"}, "managedResources": {"rules": APPLIED}}
    values.write_text(yaml.safe_dump(settings), encoding="utf-8")
    done = run_here("install", "resource-manager", "-n", namespace, "-f", str(values), "--part", part)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))
