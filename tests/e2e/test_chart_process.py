"""The process of a seed renders charts with the real Helm, whatever happens to Helm meanwhile."""

import base64
import http.client
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    INSTALLATION_NAME,
    SEED_NAMESPACE,
    SEEDS,
)
from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow_adapters.protocol.requests import object_path
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.managed_resources.definition import DEFINITIONS
from tests.e2e.resource_manager import ResourceManager, run_here
from tests.e2e.servers.build import HELM, build
from tests.unit.adapters.charts.archived import chart

SEED = "aws-eu1"
CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: {{ .Release.Namespace }}}
data: {region: {{ .Values.gardener.seed.region }}, version: {{ .Capabilities.KubeVersion.Version }}}
"""
ENDLESS = "{{ range until 10000 }}" * 3 + "{{ end }}" * 3
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class SeedProcess(ResourceManager):
    component: ClassVar[str] = "seed-extensions"


class Garden:
    """An API server that is garden and seed."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane
        self.define()
        names = {"plural": SEEDS.plural, "singular": "seed", "kind": SEEDS.kind}
        version = {"name": SEEDS.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
        spec = {"group": SEEDS.group, "scope": "Cluster", "names": names, "versions": [version]}
        metadata = {"name": f"{SEEDS.plural}.{SEEDS.group}"}
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata}
        control_plane.request("POST", DEFINITIONS, {**definition, "spec": spec})
        for resource in (SEEDS, CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, MANAGED_RESOURCES):
            path = f"/apis/{resource.api_version}/{resource.plural}"
            self.await_that(lambda path=path: control_plane.request("GET", path)[0] == http.client.OK, f"{path} served")
        control_plane.kubectl("create", "namespace", SEED_NAMESPACE)
        control_plane.kubectl(
            "create", "configmap", "cluster-identity", "-n", "kube-system", "--from-literal=cluster-identity=garden"
        )
        provider = {"type": "aws", "region": "eu-west-1", "zones": ["a"]}
        status = {"clusterIdentity": SEED}
        self.create(SEEDS, {"metadata": {"name": SEED}, "spec": {"provider": provider}, "status": status})

    def define(self) -> None:
        """Let the API server know what the project defines."""
        self.control_plane.kubectl("apply", "-f", "-", input=run_here("crds").stdout)

    def create(self, resource: Resource, manifest: Manifest) -> None:
        path = object_path(resource, ObjectKey("", manifest["metadata"]["name"])).rpartition("/")[0]
        typed = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
        status, answer = self.control_plane.request("POST", path, typed)
        assert status == http.client.CREATED, answer

    def install(self, name: str, template: str) -> None:
        config = {"chart": base64.b64encode(chart({"config.yaml": template})).decode()}
        deployment = {"type": "helm", "providerConfig": config}
        self.create(CONTROLLER_REGISTRATIONS, {"metadata": {"name": name}, "spec": {"deployment": deployment}})
        spec = {"registrationRef": {"name": name}, "seedRef": {"name": SEED}}
        self.create(CONTROLLER_INSTALLATIONS, {"metadata": {"name": name}, "spec": spec})

    def get(self, resource: Resource, key: ObjectKey) -> Any:
        status, answer = self.control_plane.request("GET", object_path(resource, key))
        return answer if status == http.client.OK else None

    def condition(self, installation: str) -> tuple[str, str]:
        """Status and message of the condition Valid."""
        live = self.get(CONTROLLER_INSTALLATIONS, ObjectKey("", installation))
        conditions = (live.get("status") or {}).get("conditions") or []
        message = next((each["message"] for each in conditions if each["type"] == "Valid"), "")
        return condition_status(live, "Valid"), message

    def await_valid(self, installation: str, status: str, words: str = "") -> None:
        self.await_that(
            lambda: self.condition(installation)[0] == status and words in self.condition(installation)[1],
            f"{installation} {status} {words}",
        )

    def delivered(self, installation: str) -> list[Any]:
        """The objects that the ManagedResource of an installation delivers."""
        managed = self.get(MANAGED_RESOURCES, ObjectKey(SEED_NAMESPACE, installation))
        assert managed["metadata"]["labels"][INSTALLATION_NAME] == installation
        secret = self.get(SECRETS, ObjectKey(SEED_NAMESPACE, managed["spec"]["secretRefs"][0]["name"]))
        texts = [base64.b64decode(each).decode() for each in secret["data"].values()]
        return [each for text in texts for each in yaml.safe_load_all(text) if each is not None]

    def await_that(self, holds: Any, what: str) -> None:
        wait_until(holds, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not {what}"))


@pytest.fixture(scope="module")
def garden(servers: Path) -> Iterator[Garden]:
    with ControlPlane() as running:
        yield Garden(running)


def process(garden: Garden, folder: Path, helm: Path, timeout: str = "30s") -> SeedProcess:
    configuration: Mapping[str, Any] = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "gardenClientConnection": {"kubeconfig": str(garden.control_plane.kubeconfig())},
        "leaderElection": {"leaderElect": False},
        "seedConfig": {"metadata": {"name": SEED}},
        "controllers": {
            name: {"enabled": False}
            for name in ("controllerInstallationCare", "controllerInstallationRequired", "seedExtensionsCheck")
        },
        "helm": {"binary": str(helm), "timeout": timeout},
    }
    return SeedProcess(folder, configuration, writes=True)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_chart_gets_into_the_seed_although_helm_is_missing_and_killed_at_first(
    garden: Garden, tmp_path: Path
) -> None:
    helm = tmp_path / "helm"
    garden.install("flaky", CONFIG_MAP)
    with process(garden, tmp_path, helm) as running:
        garden.await_valid("flaky", "Unknown", "it is not installed, or not executable")
        killed = script(tmp_path / "killed", "kill -9 $$")
        killed.rename(helm)
        garden.await_valid("flaky", "Unknown", "helm was killed by signal 9")
        script(tmp_path / "real", f'exec {build(HELM) / "helm"} "$@"').rename(helm)
        garden.await_valid("flaky", "True")

        (config_map,) = garden.delivered("flaky")
        assert running.terminate() == 0

    assert config_map["metadata"]["namespace"] == "extension-flaky"
    assert config_map["data"]["region"] == "eu-west-1"
    assert config_map["data"]["version"].startswith("v1.")


def test_hostile_charts_keep_no_other_from_being_installed(garden: Garden, tmp_path: Path) -> None:
    for number in range(3):
        garden.install(f"endless-{number}", ENDLESS)
    garden.install("broken", '{{ fail "no" }}')
    with process(garden, tmp_path, build(HELM) / "helm", timeout="2s") as running:
        garden.await_valid("endless-0", "Unknown", "helm has not ended within 2 s")
        garden.install("good", CONFIG_MAP)
        garden.await_valid("good", "True")
        garden.await_valid("broken", "False", "execution error at (test/templates/config.yaml:1:3): no")
        running.wait_ready()

        assert len(garden.delivered("good")) == 1
        assert running.terminate() == 0
    assert not _runs("endless")


def test_a_process_that_stops_leaves_no_helm_behind(garden: Garden, tmp_path: Path) -> None:
    started = tmp_path / "started"
    helm = script(tmp_path / "helm", f"touch {started}; sleep 31415 & wait")
    garden.install("sleeper", CONFIG_MAP)
    with process(garden, tmp_path, helm) as running:
        garden.await_that(started.exists, "started")
        assert running.terminate() == 0

    assert not _runs("31415")


def test_what_is_installed_outlives_the_definition_of_installations(garden: Garden, tmp_path: Path) -> None:
    managed, namespace = ObjectKey(SEED_NAMESPACE, "kept"), ObjectKey("", "extension-kept")
    garden.install("kept", CONFIG_MAP)
    with process(garden, tmp_path, build(HELM) / "helm") as running:
        garden.await_valid("kept", "True")
        before = garden.get(MANAGED_RESOURCES, managed)["metadata"]["uid"]
        try:
            garden.control_plane.kubectl("delete", "crd", str(CONTROLLER_INSTALLATIONS))
            running.wait_for_line("Warned")
        finally:
            garden.define()

        warnings = running.log_lines("Warned", level="warning")
        assert "DefinitionTerminating" in {line["reason"] for line in warnings}
        left = [garden.get(resource, key) for resource, key in ((MANAGED_RESOURCES, managed), (NAMESPACES, namespace))]
        assert left[0]["metadata"]["uid"] == before
        assert [each["metadata"].get("deletionTimestamp") for each in left] == [None, None]


def _runs(words: str) -> bool:
    """True if a process runs in whose command line some words stand."""
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and words.encode() in (folder / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False
