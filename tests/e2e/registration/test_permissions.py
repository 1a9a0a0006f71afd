"""One cluster is garden and seed: from a registration to its chart in the seed, and to the Extension of a Shoot.

The process does it with the roles that `hedgerow install seed-extensions` prints.
"""

import http.client
import io
import os
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from hedgerow.api.gardener import EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import CONFIG_MAPS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSION_KINDS,
    SEEDS,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.control_plane.plane import WORKLOAD_CONTROLLERS
from tests.e2e.permissions import ROLES, account_kubeconfig, granted, refusals_of, used
from tests.e2e.resource_manager import ResourceManager, configuration, run_here
from tests.e2e.servers.build import HELM, build

ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
HOME, ACCOUNT = "hedgerow", "hedgerow-seed-extensions"
SETTINGS: dict[str, Any] = {
    "seedConfig": {"metadata": {"name": "own"}},
    "controllers": {
        "controllerRegistration": {"enabled": True},
        "controllerDeployment": {"enabled": True},
        "shootExtensions": {"enabled": True},
    },
    "seedProviderExtensions": False,
}
SHOOT = ObjectKey("garden-team", "web")
TECHNICAL_ID = "shoot--team--web"
EXTENSION = ObjectKey(TECHNICAL_ID, "example")


class SeedExtensions(ResourceManager):
    """One process of a seed."""

    component: ClassVar[str] = "seed-extensions"


class Cluster:
    """The cluster, as its administrator sees it."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane

    def create(self, resource: Resource, manifest: Manifest) -> None:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
        path = object_path(resource, key_of(typed)).rpartition("/")[0]
        status, answer = self.control_plane.request("POST", path, typed)
        assert status == http.client.CREATED, answer

    def get(self, resource: Resource, key: ObjectKey) -> Any:
        status, answer = self.control_plane.request("GET", object_path(resource, key))
        return answer if status == http.client.OK else None

    def patch(self, resource: Resource, key: ObjectKey, patch: Manifest, subresource: str = "") -> None:
        path = "/".join(filter(None, (object_path(resource, key), subresource)))
        status, answer = self.control_plane.request("PATCH", path, patch)
        assert status == http.client.OK, answer

    def delete(self, resource: Resource, key: ObjectKey) -> None:
        self.control_plane.request("DELETE", object_path(resource, key))

    @property
    def installations(self) -> list[Any]:
        path = f"/apis/{CONTROLLER_INSTALLATIONS.api_version}/{CONTROLLER_INSTALLATIONS.plural}"
        items: list[Any] = self.control_plane.request("GET", path)[1]["items"]
        return items

    def conditions(self, manifest: Any) -> dict[str, str]:
        conditions = ((manifest or {}).get("status") or {}).get("conditions", ())
        return {each["type"]: each["status"] for each in conditions}


def define(control_plane: ControlPlane) -> None:
    """Returns once the API server stores what hedgerow and Gardener define."""
    printed = run_here("crds")
    control_plane.kubectl("apply", "-f", "-", input=printed.stdout)
    kinds = (
        *(each for each in EXTENSION_KINDS.values() if each != EXTENSIONS),
        SEEDS,
        SHOOTS,
        BACKUP_BUCKETS,
        BACKUP_ENTRIES,
    )
    definitions = [definition(each) for each in kinds]
    control_plane.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(definitions))
    for each in (*kinds, EXTENSIONS, CONTROLLER_REGISTRATIONS, CONTROLLER_INSTALLATIONS):
        path = f"/apis/{each.api_version}/{each.plural}"
        until(lambda path=path: control_plane.request("GET", path)[0] == http.client.OK)


def definition(resource: Resource) -> dict[str, Any]:
    schema = {"schema": {"openAPIV3Schema": ANYTHING}, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {"plural": resource.plural, "singular": resource.kind.lower(), "kind": resource.kind},
            "versions": [{"name": resource.version, "served": True, "storage": True, **schema}],
        },
    }


def chart() -> str:
    """An archive with one template, in base64."""
    files = {
        "example/Chart.yaml": "apiVersion: v2\nname: example\nversion: 1.0.0\n",
        "example/templates/config.yaml": (
            "apiVersion: v1\nkind: ConfigMap\n"
            "metadata: {name: example, namespace: {{ .Release.Namespace }}}\n"
            "data: {seed: {{ .Values.gardener.seed.name }}, word: {{ .Values.word }}}\n"
        ),
    }
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text.encode()))
    return b64encode(archive.getvalue()).decode()


@pytest.fixture(scope="module")
def cluster(servers: object) -> Iterator[Cluster]:
    """A cluster of the module's own."""
    with ControlPlane() as running:
        define(running)
        running.start_controller_manager(WORKLOAD_CONTROLLERS)
        cluster = Cluster(running)
        for name in ("garden", HOME, SHOOT.namespace, TECHNICAL_ID):
            cluster.create(NAMESPACES, {"metadata": {"name": name}})
        identity = {"metadata": {"namespace": "kube-system", "name": "cluster-identity"}}
        cluster.create(CONFIG_MAPS, {**identity, "data": {"cluster-identity": "landscape"}})
        spec = {"provider": {"type": "local", "region": "here"}, "dns": {}, "networks": {"pods": "a", "services": "b"}}
        cluster.create(SEEDS, {"metadata": {"name": "own"}, "spec": spec})
        cluster.patch(SEEDS, ObjectKey("", "own"), {"status": {"clusterIdentity": "own-id"}}, "status")
        yield cluster


def printed_roles(folder: Path) -> list[dict[str, Any]]:
    values = folder / "values.yaml"
    values.write_text(yaml.safe_dump({"config": SETTINGS}))
    printed = run_here("install", "seed-extensions", "--namespace", HOME, "-f", str(values))
    assert printed.returncode == 0, printed.stderr
    return [each for each in yaml.safe_load_all(printed.stdout) if each["kind"] in ROLES]


@pytest.fixture
def process(cluster: Cluster, tmp_path: Path) -> Iterator[SeedExtensions]:
    """The process, as the service account of its installation."""
    cluster.control_plane.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(printed_roles(tmp_path)))
    kubeconfig = account_kubeconfig(cluster.control_plane, HOME, tmp_path, ACCOUNT)
    config = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "sourceClientConnection": {"kubeconfig": str(kubeconfig)},
        "leaderElection": {"leaderElect": True, "resourceNamespace": HOME},
        "helm": {"binary": os.environ.get("HEDGEROW_HELM") or str(build(HELM) / "helm")},
        **SETTINGS,
    }
    with SeedExtensions(tmp_path, config, name="seed-extensions") as running:
        running.wait_ready()
        yield running


@pytest.mark.slow
def test_an_extension_comes_with_its_registration_serves_a_shoot_and_goes(
    cluster: Cluster, process: SeedExtensions, tmp_path: Path
) -> None:
    resource = {
        "kind": "Extension",
        "type": "example",
        "globallyEnabled": True,
        "lifecycle": {"reconcile": "BeforeKubeAPIServer"},
    }
    deployment = {"type": "helm", "providerConfig": {"chart": chart(), "values": {"word": "first"}}}
    deployed = {"policy": "Always", "deploymentRefs": [{"name": "example"}]}
    name = ObjectKey("", "example")
    manager = configuration(cluster.control_plane.kubeconfig(), network_policy={"enabled": False})
    manager["controllers"]["resourceClass"] = "seed"

    with ResourceManager(tmp_path, manager):
        cluster.create(CONTROLLER_DEPLOYMENTS, {"metadata": {"name": "example"}, **deployment})
        spec = {"resources": [resource], "deployment": deployed}
        cluster.create(CONTROLLER_REGISTRATIONS, {"metadata": {"name": "example"}, "spec": spec})
        good = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}
        until(lambda: [good.items() <= cluster.conditions(each).items() for each in cluster.installations] == [True])
        (installation,) = cluster.installations
        namespace = f"extension-{installation['metadata']['name']}"
        rendered = ObjectKey(namespace, "example")
        assert cluster.get(CONFIG_MAPS, rendered)["data"] == {"seed": "own", "word": "first"}
        managed_resource = cluster.get(MANAGED_RESOURCES, ObjectKey("garden", installation["metadata"]["name"]))
        (secret,) = managed_resource["spec"]["secretRefs"]
        # Somebody takes the mark of garbage collection off what is going to be replaced.
        cluster.patch(
            SECRETS, ObjectKey("garden", secret["name"]), {"metadata": {"labels": {GARBAGE_COLLECTABLE: None}}}
        )
        cluster.patch(CONTROLLER_DEPLOYMENTS, name, {"providerConfig": {"values": {"word": "second"}}})
        until(lambda: cluster.get(CONFIG_MAPS, rendered)["data"]["word"] == "second")
        seed = ObjectKey("", "own")
        until(lambda: cluster.conditions(cluster.get(SEEDS, seed)).get("ExtensionsReady") == "True")

        serve_a_shoot(cluster)

        cluster.delete(CONTROLLER_DEPLOYMENTS, name)
        cluster.delete(CONTROLLER_REGISTRATIONS, name)
        until(lambda: cluster.installations == [])
        until(lambda: cluster.get(CONTROLLER_REGISTRATIONS, name) is None)
        until(lambda: cluster.get(CONTROLLER_DEPLOYMENTS, name) is None)
        assert cluster.get(NAMESPACES, ObjectKey("", namespace)) is None
    assert process.terminate() == 0
    assert refusals_of(cluster.control_plane, HOME, ACCOUNT) == []
    idle = granted(printed_roles(tmp_path)) - used(cluster.control_plane, HOME, ACCOUNT)
    # A Secret that already has the name of a content, and another content.
    assert idle <= {("update", "secrets")}


def serve_a_shoot(cluster: Cluster) -> None:
    """A Shoot comes, has its Extension, and goes."""
    spec = {"seedName": "own", "provider": {"type": "local", "workers": [{"name": "w"}]}}
    metadata = {"namespace": SHOOT.namespace, "name": SHOOT.name}
    cluster.create(SHOOTS, {"metadata": metadata, "spec": spec})
    cluster.patch(SHOOTS, SHOOT, {"status": {"technicalID": TECHNICAL_ID}}, "status")
    until(lambda: cluster.get(EXTENSIONS, EXTENSION) is not None)
    labels = cluster.get(NAMESPACES, ObjectKey("", TECHNICAL_ID))["metadata"]["labels"]
    assert labels["extensions.gardener.cloud/example"] == "true"
    until(lambda: any(cluster.conditions(each).get("Required") == "True" for each in cluster.installations))
    cluster.delete(SHOOTS, SHOOT)
    until(lambda: cluster.get(SHOOTS, SHOOT) is None)
    assert cluster.get(EXTENSIONS, EXTENSION) is None
    until(lambda: all(cluster.conditions(each).get("Required") == "False" for each in cluster.installations))


def until(is_so: Any) -> None:
    wait_until(is_so, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not within {PATIENCE} s"))
