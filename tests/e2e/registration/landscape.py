"""A garden and a seed, two API servers, with the processes that bring extensions from one to the other."""

import base64
import http.client
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    SEED_NAMESPACE,
    SEEDS,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.managed_resources.definition import DEFINITIONS
from tests.e2e.resource_manager import ResourceManager, run_here
from tests.unit.adapters.charts.archived import chart

SEED: Final = "aws-eu1"
REGISTRATION: Final = ("controllerregistrations", "controllerdeployments", "controllerinstallations")
WORKERS: Final = EXTENSION_KINDS["Worker"]
PRIORITY_CLASSES: Final = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
_ANYTHING: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class ControllerManager(ResourceManager):
    """The process of the garden."""

    component: ClassVar[str] = "controller-manager"


class SeedExtensions(ResourceManager):
    """The process of the seed."""

    component: ClassVar[str] = "seed-extensions"


def define(cluster: ControlPlane, *definitions: str, also: tuple[Resource, ...] = ()) -> None:
    """Returns once the API server stores what `hedgerow crds` defines by these names, and other resources unchecked."""
    printed = run_here("crds", *definitions)
    assert (printed.returncode, printed.stderr) == (0, "")
    manifests = [*yaml.safe_load_all(printed.stdout), *map(_unchecked, also)]
    for manifest in manifests:
        status, answer = cluster.request("POST", DEFINITIONS, manifest)
        assert status == http.client.CREATED, answer
    for manifest in manifests:
        spec = manifest["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        until(lambda path=path: cluster.request("GET", path)[0] == http.client.OK, f"{path} is served")


def _unchecked(resource: Resource) -> Manifest:
    version = {"name": resource.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": str(resource)},
        "spec": {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {"plural": resource.plural, "singular": resource.kind.lower(), "kind": resource.kind},
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def until(is_so: Any, what: str) -> None:
    """Returns once something is so, and fails the test if it does not become so."""
    wait_until(is_so, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not within {PATIENCE} s: {what}"))


class Objects:
    """The objects of one cluster."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane

    def create(self, resource: Resource, name: str, namespace: str = "", **fields: Any) -> Manifest:
        """Create an object, which has to be new."""
        metadata = {**fields.pop("metadata", {}), "name": name, **({"namespace": namespace} if namespace else {})}
        manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}
        path = object_path(resource, key_of(manifest)).rpartition("/")[0]
        status, answer = self.control_plane.request("POST", path, manifest)
        assert status == http.client.CREATED, answer
        created: Manifest = answer
        return created

    def patch(self, resource: Resource, name: str, patch: Manifest, namespace: str = "", subresource: str = "") -> None:
        """Change an object by a merge patch."""
        path = object_path(resource, ObjectKey(namespace, name)) + (f"/{subresource}" if subresource else "")
        status, answer = self.control_plane.request("PATCH", path, patch)
        assert status == http.client.OK, answer

    def get(self, resource: Resource, name: str, namespace: str = "") -> Any:
        """An object, or none."""
        status, answer = self.control_plane.request("GET", object_path(resource, ObjectKey(namespace, name)))
        return answer if status == http.client.OK else None

    def delete(self, resource: Resource, name: str, namespace: str = "") -> None:
        """Ask for an object to go."""
        status, answer = self.control_plane.request("DELETE", object_path(resource, ObjectKey(namespace, name)))
        assert status == http.client.OK, answer

    def all(self, resource: Resource) -> list[Any]:
        """All objects of a resource."""
        version = resource.version if not resource.group else resource.api_version
        status, answer = self.control_plane.request(
            "GET", f"/{'apis' if resource.group else 'api'}/{version}/{resource.plural}"
        )
        assert status == http.client.OK, answer
        items: list[Any] = answer["items"]
        return items


class Landscape:
    """Both clusters, with one Seed, and the configurations of the processes."""

    def __init__(self, garden: ControlPlane, seed: ControlPlane) -> None:
        self.garden, self.seed = Objects(garden), Objects(seed)

    def define(self) -> None:
        """Define what Gardener does, and make what it has made before any extension is registered."""
        define(self.garden.control_plane, *REGISTRATION, also=(SEEDS, SHOOTS, BACKUP_BUCKETS, BACKUP_ENTRIES))
        # The other kinds of extensions are not served: a seed has those that its extensions bring.
        define(self.seed.control_plane, "managedresources", "extensions", also=(CLUSTERS, WORKERS))
        self.garden.create(NAMESPACES, "garden")
        self.garden.create(CONFIG_MAPS, "cluster-identity", "kube-system", data={"cluster-identity": "landscape"})
        self.seed.create(NAMESPACES, "garden")
        for name in ("gardener-shoot-system-700", "gardener-system-900"):
            self.seed.create(PRIORITY_CLASSES, name, value=1)
        resources = [{"kind": kind, "type": "aws"} for kind in ("ControlPlane", "Infrastructure", "Worker")]
        self.garden.create(CONTROLLER_REGISTRATIONS, "provider-aws", spec={"resources": resources})
        self.add_seed(SEED)

    def add_seed(self, name: str) -> None:
        """Make a Seed."""
        self.garden.create(SEEDS, name, spec=SEED_SPEC)
        self.garden.patch(SEEDS, name, {"status": {"clusterIdentity": f"{name}-id"}}, subresource="status")

    def controller_manager(self, **sections: Any) -> Mapping[str, Any]:
        """The configuration of the process of the garden."""
        return {
            "apiVersion": "controllermanager.config.gardener.cloud/v1alpha1",
            "kind": "ControllerManagerConfiguration",
            "sourceClientConnection": {"kubeconfig": str(self.garden.control_plane.kubeconfig())},
            "leaderElection": {"leaderElect": False},
            **sections,
        }

    def seed_extensions(self, helm: Path | str, **sections: Any) -> Mapping[str, Any]:
        """The configuration of the process of the seed."""
        return {
            "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
            "kind": "SeedExtensionsConfiguration",
            "sourceClientConnection": {"kubeconfig": str(self.garden.control_plane.kubeconfig())},
            "targetClientConnection": {"kubeconfig": str(self.seed.control_plane.kubeconfig())},
            "leaderElection": {"leaderElect": False},
            "seedConfig": {"metadata": {"name": SEED}},
            "helm": {"binary": str(helm)},
            **sections,
        }

    def register(self, name: str, template: str, *types: str) -> None:
        """Register a chart of one template for types of Extensions."""
        config = {"chart": base64.b64encode(chart({"objects.yaml": template})).decode()}
        resources = [{"kind": "Extension", "type": each} for each in types]
        spec = {"resources": resources, "deployment": {"type": "helm", "providerConfig": config}}
        self.garden.create(CONTROLLER_REGISTRATIONS, name, spec=spec)

    def install(self, name: str, template: str) -> None:
        """Register a chart of one template, and make the installation of the same name that planning would."""
        self.register(name, template)
        spec = {"registrationRef": {"name": name}, "seedRef": {"name": SEED}}
        self.garden.create(CONTROLLER_INSTALLATIONS, name, spec=spec)

    def shoot(self, name: str, *extensions: str) -> None:
        """Make a Shoot of the seed that lists extensions."""
        namespace = f"garden-{name}"
        self.garden.create(NAMESPACES, namespace)
        spec = {"seedName": SEED, "provider": {"type": "aws"}, "extensions": [{"type": each} for each in extensions]}
        self.garden.create(SHOOTS, name, namespace, spec=spec)

    def installation(self, registration: str) -> Any:
        """The installation of a registration, or none; there is never more than one."""
        of_it = [
            each
            for each in self.garden.all(CONTROLLER_INSTALLATIONS)
            if each["spec"]["registrationRef"]["name"] == registration
        ]
        assert len(of_it) <= 1, of_it
        return of_it[0] if of_it else None

    def conditions(self, registration: str) -> dict[str, str]:
        """What the conditions of an installation say."""
        return {each["type"]: each["status"] for each in self._conditions(registration)}

    def condition(self, registration: str, type_: str) -> tuple[str, str]:
        """Reason and message of a condition of an installation."""
        found = [each for each in self._conditions(registration) if each["type"] == type_]
        return (found[0]["reason"], found[0]["message"]) if found else ("", "")

    def _conditions(self, registration: str) -> list[Any]:
        installation = self.installation(registration) or {}
        return (installation.get("status") or {}).get("conditions") or []

    def delivered(self, installation: str) -> tuple[list[str], list[str], bool]:
        """What is in the seed for an installation: its Secrets, ManagedResources, and whether it has its Namespace."""
        of_it = [
            [each["metadata"]["name"] for each in self.seed.all(resource) if _is_named(each, installation)]
            for resource in (SECRETS, MANAGED_RESOURCES)
        ]
        return of_it[0], of_it[1], self.seed.get(NAMESPACES, f"extension-{installation}") is not None

    def has_gone(self, registration: str) -> bool:
        """True if neither registration nor installation nor its namespace are left."""
        left = [each["metadata"]["name"] for each in self.seed.all(NAMESPACES)]
        return (
            self.garden.get(CONTROLLER_REGISTRATIONS, registration) is None
            and self.installation(registration) is None
            and not any(name.startswith(f"extension-{registration}") for name in left)
        )

    def extension(self, namespace: str, name: str) -> Any:
        """An Extension of the seed, or none."""
        return self.seed.get(EXTENSIONS, name, namespace)


def _is_named(manifest: Manifest, installation: str) -> bool:
    metadata = manifest["metadata"]
    return bool(metadata["namespace"] == SEED_NAMESPACE and metadata["name"].startswith(installation))


SEED_SPEC: Final = {
    "provider": {"type": "aws", "region": "eu-west-1", "zones": ["a"]},
    "dns": {},
    "networks": {"pods": "100.96.0.0/11", "services": "100.64.0.0/13", "ipFamilies": ["IPv4"]},
}
