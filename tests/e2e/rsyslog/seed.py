"""A seed: an API server that knows what Gardener defines, with the controllers of workloads, and its processes."""

import http.client
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, OPERATING_SYSTEM_CONFIGS, SHOOTS
from hedgerow.api.kubernetes import CONFIG_MAPS, DAEMON_SETS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.managed_resources.definition import DEFINITIONS, define_managed_resources
from tests.e2e.resource_manager import ResourceManager

TYPE: Final = "shoot-rsyslog-relp"
CLEANER: Final = "extension-shoot-rsyslog-relp-configuration-cleaner"
DAEMON_SET: Final = ObjectKey("kube-system", "rsyslog-relp-configuration-cleaner")
OPERATION: Final = "gardener.cloud/operation"
_ANYTHING: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def define(control_plane: ControlPlane) -> None:
    """Returns once the API server stores ManagedResources and what Gardener defines."""
    define_managed_resources(control_plane)
    for resource in (CLUSTERS, EXTENSIONS, OPERATING_SYSTEM_CONFIGS, SHOOTS):
        version = {"name": resource.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{resource.plural}.{resource.group}"},
            "spec": {
                "group": resource.group,
                "scope": "Namespaced" if resource.namespaced else "Cluster",
                "names": {"plural": resource.plural, "singular": resource.kind.lower(), "kind": resource.kind},
                "versions": [{**version, **({"subresources": {"status": {}}} if resource is EXTENSIONS else {})}],
            },
        }
        status, answer = control_plane.request("POST", DEFINITIONS, definition)
        assert status == http.client.CREATED, answer
        _wait_until_served(control_plane, f"/apis/{resource.api_version}/{resource.plural}")


def _wait_until_served(control_plane: ControlPlane, path: str) -> None:
    wait_until(
        lambda: control_plane.request("GET", path)[0] == http.client.OK,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError(f"{path} is not served"),
    )


class ExtensionProcess(ResourceManager):
    """One process of the extension."""

    component: ClassVar[str] = "rsyslog-relp"


class Shoot:
    """The namespace of one Shoot in the seed."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        """Make the namespace, and the Cluster that shows a healthy Shoot."""
        self.control_plane = control_plane
        self.namespace = namespace
        self.key = ObjectKey(namespace, TYPE)
        labels = {f"extensions.gardener.cloud/{TYPE}": "true"}
        self.create(NAMESPACES, {"metadata": {"name": namespace, "labels": labels}})
        shoot = {"metadata": {"name": "foo", "uid": "uid"}, "spec": {}, "status": {}}
        self.create(CLUSTERS, {"metadata": {"name": namespace}, "spec": {"shoot": shoot}})

    def create(self, resource: Resource, manifest: Manifest) -> None:
        status, answer = self.ask_to_create(resource, manifest)
        assert status == http.client.CREATED, answer

    def ask_to_create(self, resource: Resource, manifest: Manifest) -> tuple[int, Any]:
        """What the API server answers."""
        typed = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
        path = object_path(resource, key_of(typed)).rpartition("/")[0]
        return self.control_plane.request("POST", path, typed)

    def get(self, resource: Resource, key: ObjectKey) -> Any:
        """An object, or none."""
        status, answer = self.control_plane.request("GET", object_path(resource, key))
        return answer if status == http.client.OK else None

    def enable(self, config: Manifest | None = None) -> None:
        """Ask for the extension."""
        spec = {"type": TYPE, **({"providerConfig": config} if config else {})}
        self.create(EXTENSIONS, {"metadata": {"namespace": self.namespace, "name": TYPE}, "spec": spec})

    def clear(self) -> None:
        """Take the Extension and its cleaner away, whoever holds them."""
        for resource, name in ((EXTENSIONS, TYPE), (MANAGED_RESOURCES, CLEANER)):
            path = object_path(resource, ObjectKey(self.namespace, name))
            self.control_plane.request("PATCH", path, {"metadata": {"finalizers": None}})
            self.control_plane.request("DELETE", path)

    def ask_for(self, operation: str) -> None:
        """Annotate the Extension."""
        patch = {"metadata": {"annotations": {OPERATION: operation}}}
        path = object_path(EXTENSIONS, self.key)
        status, answer = self.control_plane.request("PATCH", path, patch)
        assert status == http.client.OK, answer

    def disable(self) -> None:
        """Delete the Extension."""
        status, answer = self.control_plane.request("DELETE", object_path(EXTENSIONS, self.key))
        assert status == http.client.OK, answer

    @property
    def extension(self) -> Any:
        return self.get(EXTENSIONS, self.key)

    @property
    def last_operation(self) -> tuple[str, str]:
        """Type and state."""
        last = ((self.extension or {}).get("status") or {}).get("lastOperation") or {}
        return last.get("type", ""), last.get("state", "")

    @property
    def monitoring(self) -> Any:
        return self.get(CONFIG_MAPS, ObjectKey(self.namespace, f"{TYPE}-prometheus"))

    @property
    def cleaner(self) -> Any:
        return self.get(MANAGED_RESOURCES, ObjectKey(self.namespace, CLEANER))

    @property
    def secrets(self) -> list[str]:
        """The names of the Secrets."""
        status, answer = self.control_plane.request("GET", f"/api/v1/namespaces/{self.namespace}/{SECRETS.plural}")
        assert status == http.client.OK, answer
        return [each["metadata"]["name"] for each in answer["items"]]

    @property
    def daemon_set(self) -> Any:
        return self.get(DAEMON_SETS, DAEMON_SET)

    def settings(self, **sections: Any) -> Mapping[str, Any]:
        """The configuration of a process of the extension."""
        return {
            "apiVersion": "rsyslog-relp.extensions.config.gardener.cloud/v1alpha1",
            "kind": "Configuration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig)},
            "leaderElection": {"leaderElect": False},
            "webhooks": {"operatingSystemConfig": {"enabled": False}},
            **sections,
        }

    @property
    def kubeconfig(self) -> Path:
        """The way to the seed."""
        return self.control_plane.kubeconfig()
