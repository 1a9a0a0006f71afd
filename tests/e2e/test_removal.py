"""What was delivered outlives the process and the definition, and goes when somebody wants that, as the page says.

The commands are those of docs/installation.md.
"""

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.control_plane import PATIENCE
from tests.e2e.managed_definition import DEFINITION, path_of
from tests.e2e.managed_resources.manifests import cluster_role, config_map, managed_resource, secret_of
from tests.e2e.managed_resources.urls import collection_of
from tests.e2e.managed_resources.urls import path_of as path_of_object
from tests.e2e.nobody_answers.cluster import NAME, SHOP, Cluster, new_cluster
from tests.e2e.test_installation import ROOT, helm

GARDEN: Final = "garden"
DELIVERED: Final = (config_map(SHOP, "one"), config_map(GARDEN, "two"), cluster_role("three"))
OF_CART: Final = {"ingress-to-cart-tcp-80", "egress-to-cart-tcp-80"}
INSTALL: Final = "hedgerow install resource-manager --namespace garden -f values.yaml"
WITH_HELM: Final = "helm install resource-manager deploy/charts/resource-manager --namespace garden -f values.yaml"
WITHOUT_HELM: Final = f"{INSTALL} --include-crds | kubectl apply -f -"
VALUES: Final[dict[str, Any]] = {
    "managedResources": {"clusterAdmin": True},
    "replicas": 1,
    # Without its roles, a process cannot give its Lease back, and the next one would wait.
    "config": {
        "leaderElection": {"leaderElect": False},
        "server": {"webhooks": {"shutdownDelay": "0s"}},
        "controllers": {
            "networkPolicy": {
                "enabled": True,
                "namespaceSelectors": [{"matchLabels": {"kubernetes.io/metadata.name": SHOP}}],
            }
        },
    },
}
_PAGE: Final = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")


def commands(section: str) -> list[str]:
    """The blocks of commands below a heading of the page."""
    found = re.search(rf"^### {section}$(.*?)(?=^##|\Z)", _PAGE, re.MULTILINE | re.DOTALL)
    assert found, section
    return re.findall(r"^```sh\n(.*?)^```$", found[1], re.MULTILINE | re.DOTALL)


BY_HELM, BY_KUBECTL, DEFINITION_FIRST = commands("Keep what was delivered")
(EVERYTHING,) = commands("Delete everything")
(LEFT,) = commands("What is left")
(KEPT_AFTER_ALL,) = commands("ManagedResources that stay in deletion")
(RELEASED_LATER,) = commands("A definition that stays in deletion")


@dataclass(frozen=True)
class Site:
    """A cluster, and the shell of somebody who works there."""

    cluster: Cluster
    folder: Path

    def run(self, commands: str) -> None:
        """Run commands; each has to succeed."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "KUBECONFIG": str(self.cluster.plane.kubeconfig())}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env={**environment, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"

    def install(self, commands: str) -> None:
        """Install the process, and wait for it."""
        self.run(commands)
        self.run(f"kubectl rollout status deployment {NAME} --namespace {GARDEN} --timeout=250s")

    def deliver(self) -> dict[str, str]:
        """The uids of what a ManagedResource has delivered."""
        secret = secret_of(SHOP, "payload", DELIVERED)
        managed = managed_resource(SHOP, "mine", secret["metadata"]["name"])
        for each in (secret, managed):
            self.answer(http.client.CREATED, "POST", collection_of(each), each)
        self.wait_until(self.is_applied, "the objects are not delivered")
        self.wait_until(lambda: self.held() == ["ManagedResource", "Secret"], "the Secret is not held")
        return self.delivered()

    def is_applied(self) -> bool:
        conditions = self.get(path_of(SHOP, "mine")).get("status", {}).get("conditions", ())
        return {"ResourcesApplied": "True"}.items() <= {each["type"]: each["status"] for each in conditions}.items()

    def delivered(self) -> dict[str, str]:
        """The uids of the delivered objects that are there, and nobody deletes."""
        found = {each["metadata"]["name"]: self.get(path_of_object(each)) for each in DELIVERED}
        live = {
            name: each["metadata"] for name, each in found.items() if "metadata" in each and "uid" in each["metadata"]
        }
        return {name: metadata["uid"] for name, metadata in live.items() if "deletionTimestamp" not in metadata}

    def held(self) -> list[str]:
        """The kinds of what has a finalizer of the process."""
        secrets = self.get(f"/api/v1/namespaces/{SHOP}/secrets")["items"]
        managed = self.get(path_of()).get("items", ())
        objects = [*(("ManagedResource", each) for each in managed), *(("Secret", each) for each in secrets)]
        return [kind for kind, each in objects if "resources.gardener.cloud" in str(each["metadata"].get("finalizers"))]

    def policies(self) -> set[str]:
        """The names of all NetworkPolicies."""
        found = self.get("/apis/networking.k8s.io/v1/networkpolicies")["items"]
        return {each["metadata"]["name"] for each in found}

    def definition(self) -> dict[str, Any] | None:
        status, answer = self.cluster.plane.request("GET", DEFINITION)
        return answer if status == http.client.OK else None

    def events(self) -> set[str]:
        """The reasons of warnings about ManagedResources."""
        found = self.get(f"/apis/events.k8s.io/v1/namespaces/{SHOP}/events")["items"]
        return {each["reason"] for each in found if each["type"] == "Warning"}

    def wait_until_stopped(self) -> None:
        """Return when no pod of the process is left."""
        pods = f"/api/v1/namespaces/{GARDEN}/pods"
        self.wait_until(lambda: not self.get(pods)["items"], "the process does not stop")

    def get(self, path: str) -> dict[str, Any]:
        return self.cluster.plane.request("GET", path)[1]

    def answer(self, status: int, method: str, path: str, body: Any = None) -> None:
        answered, answer = self.cluster.plane.request(method, path, body)
        assert answered == status, answer

    def wait_until(self, condition: Any, problem: str) -> None:
        self.cluster.node.wait_until(condition, problem)


@pytest.fixture(scope="module")
def cluster(servers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with new_cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.kubectl("create", "namespace", GARDEN)
        yield running


@pytest.fixture
def site(cluster: Cluster, servers: Path, tmp_path: Path) -> Iterator[Site]:
    tools = {"kubectl": servers / "kubectl", "helm": helm(), "hedgerow": Path(sys.executable).with_name("hedgerow")}
    (tmp_path / "bin").mkdir()
    for name, binary in tools.items():
        (tmp_path / "bin" / name).symlink_to(binary)
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(VALUES), encoding="utf-8")
    shell = Site(cluster, tmp_path)
    yield shell
    clear(shell)


def clear(site: Site) -> None:
    """Remove what is left, by force."""
    plane = site.cluster.plane
    for manifest in yaml.safe_load_all(
        subprocess.run(
            [str(site.folder / "bin" / "hedgerow"), *INSTALL.split()[1:]],
            cwd=site.folder,
            capture_output=True,
            check=True,
        ).stdout
    ):
        plane.request("DELETE", path_of_object(manifest))
    site.wait_until_stopped()
    for each in site.get(path_of()).get("items", ()):
        plane.request("PATCH", path_of(SHOP, each["metadata"]["name"]), {"metadata": {"finalizers": None}})
    plane.request("DELETE", DEFINITION)
    site.wait_until(lambda: site.definition() is None, "the definition stays")
    for each in (*DELIVERED, secret_of(SHOP, "payload", ())):
        plane.request("PATCH", path_of_object(each), {"metadata": {"finalizers": None}})
        plane.request("DELETE", path_of_object(each))
    for secret in site.get(f"/api/v1/namespaces/{GARDEN}/secrets")["items"]:
        if secret["type"] == "helm.sh/release.v1":
            plane.request("DELETE", f"/api/v1/namespaces/{GARDEN}/secrets/{secret['metadata']['name']}")


@pytest.mark.parametrize(
    ("install", "remove"), [(WITH_HELM, BY_HELM), (WITHOUT_HELM, BY_KUBECTL)], ids=["helm", "kubectl"]
)
def test_what_was_delivered_outlives_the_process_and_the_next_one_takes_it_up(
    site: Site, install: str, remove: str
) -> None:
    site.install(install)
    uids = site.deliver()

    site.run(remove)
    site.wait_until_stopped()

    assert (site.delivered(), site.held()) == (uids, ["ManagedResource", "Secret"])
    site.install(install)
    site.answer(http.client.OK, "PATCH", path_of_object(DELIVERED[0]), {"data": {"setting": "drifted"}})
    site.wait_until(lambda: site.get(path_of_object(DELIVERED[0]))["data"] == DELIVERED[0]["data"], "drift stays")
    assert site.delivered() == uids


def test_what_was_delivered_outlives_its_definition_and_a_warning_says_so(site: Site) -> None:
    site.install(WITH_HELM)
    uids = site.deliver()

    site.run(DEFINITION_FIRST)
    site.wait_until_stopped()

    assert (site.delivered(), site.held(), site.definition()) == (uids, [], None)
    assert "DefinitionTerminating" in site.events()


def test_what_was_delivered_outlives_process_and_definition_that_go_together(site: Site) -> None:
    site.install(WITHOUT_HELM)
    uids = site.deliver()

    site.run(f"{INSTALL} --include-crds | kubectl delete --wait=false -f -")
    site.wait_until_stopped()

    assert site.delivered() == uids
    site.run(RELEASED_LATER)
    site.wait_until_stopped()
    assert (site.delivered(), site.definition()) == (uids, None)


def test_what_was_delivered_outlives_a_definition_that_is_removed_by_force_and_installed_again(site: Site) -> None:
    site.install(WITHOUT_HELM)
    uids = site.deliver()
    site.run(BY_KUBECTL)
    site.wait_until_stopped()
    site.answer(http.client.OK, "DELETE", DEFINITION)
    site.wait_until(lambda: "deletionTimestamp" in site.get(path_of(SHOP, "mine"))["metadata"], "nothing is deleted")

    site.answer(http.client.OK, "PATCH", DEFINITION, {"metadata": {"finalizers": None}})
    site.wait_until(lambda: site.definition() is None, "the definition stays")
    site.install(WITHOUT_HELM)

    site.wait_until(lambda: site.held() == [], "what came back is not released")
    assert site.delivered() == uids
    assert "DefinitionTerminating" in site.events()


def test_what_was_delivered_by_something_that_waits_for_its_deletion_can_be_kept_after_all(site: Site) -> None:
    site.install(WITH_HELM)
    uids = site.deliver()
    site.run(BY_HELM)
    site.wait_until_stopped()
    site.run(f"kubectl delete managedresource mine --namespace {SHOP} --wait=false")

    site.run(KEPT_AFTER_ALL)
    site.install(WITH_HELM)

    site.wait_until(lambda: site.held() == [], "what is in deletion is not released")
    assert site.delivered() == uids


def test_everything_goes_when_somebody_wants_that_and_no_finalizer_is_left(site: Site) -> None:
    site.install(WITH_HELM)
    assert len(site.deliver()) == len(DELIVERED)

    site.run(EVERYTHING)
    site.wait_until_stopped()

    assert (site.delivered(), site.held(), site.definition()) == ({}, [], None)


def test_policies_outlive_the_process_until_somebody_deletes_what_is_left(site: Site) -> None:
    site.run(f"kubectl create service clusterip cart --tcp=80 --namespace {SHOP}")
    site.install(WITH_HELM)
    site.wait_until(lambda: len(site.policies()) == len(OF_CART), "there is no policy")

    site.run(EVERYTHING)
    site.wait_until_stopped()

    assert site.policies() == OF_CART
    site.run(LEFT)
    assert site.policies() == set()
