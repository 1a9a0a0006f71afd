"""What a process fills into its registrations stays when the installation is applied again, by Helm and by kubectl."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_entrypoints.components import RESOURCE_MANAGER
from tests.control_plane import PATIENCE, ControlPlane
from tests.e2e.charts.helm import CHART_FOLDERS, helm, written
from tests.e2e.permissions import account_kubeconfig, refusals_of
from tests.e2e.resource_manager import ResourceManager, run_here

NAME = "gardener-resource-manager"
RELEASE = "own-certificates"
VALUES = {
    "managedResources": {"clusterAdmin": True},
    "config": {
        "webhooks": {"highAvailabilityConfig": {"enabled": True}, "crdDeletionProtection": {"enabled": True}},
        "leaderElection": {"leaderElect": True},
    },
}
KINDS = ("mutatingwebhookconfiguration", "validatingwebhookconfiguration")


@pytest.fixture(scope="module")
def cluster(servers: Path) -> Iterator[ControlPlane]:
    """An API server of this test alone."""
    with ControlPlane() as running:
        running.kubectl("create", "namespace", RELEASE)
        yield running


def registered(cluster: ControlPlane) -> list[Any]:
    """The webhooks of both registrations."""
    found = [yaml.safe_load(cluster.kubectl("get", kind, NAME, "-o", "yaml")) for kind in KINDS]
    return [each.get("webhooks") for each in found]


def certificates(cluster: ControlPlane) -> Any:
    """What the process keeps in its Secret."""
    secret = cluster.kubectl("get", "secret", f"{NAME}-webhook-certificates", "-n", RELEASE, "-o", "yaml")
    return yaml.safe_load(secret).get("data")


def installed_process(cluster: ControlPlane, folder: Path) -> ResourceManager:
    """The process of the release, by its own configuration and with its own rights."""
    config_map = yaml.safe_load(cluster.kubectl("get", "configmap", NAME, "-n", RELEASE, "-o", "yaml"))
    file = folder / "webhooks.yaml"
    file.write_text(config_map["data"]["webhooks.yaml"], encoding="utf-8")
    config = yaml.safe_load(config_map["data"]["config.yaml"])
    tls = config.pop("server")["webhooks"]["tls"]
    tls["self"]["registrations"] = str(file)
    config["sourceClientConnection"] = {"kubeconfig": str(account_kubeconfig(cluster, RELEASE, folder))}
    return ResourceManager(folder, config, tls={"provision": tls["provision"], "self": tls["self"]})


def test_registrations_stay_filled_in_until_the_release_is_removed(cluster: ControlPlane, tmp_path: Path) -> None:
    kubeconfig, values = cluster.kubeconfig(), ("-f", str(written(tmp_path / "values.yaml", VALUES)))
    chart, release = str(CHART_FOLDERS / RESOURCE_MANAGER), (RELEASE, "--namespace", RELEASE)
    helm("install", *release, chart, *values, kubeconfig=kubeconfig)
    assert registered(cluster) == [None, None]

    with installed_process(cluster, tmp_path) as process:
        process.wait_ready()
        process.wait_for(lambda: all(registered(cluster)), "registers nothing", PATIENCE)
        before, kept = registered(cluster), certificates(cluster)
        assert kept

        helm("upgrade", *release, chart, *values, "--set", "replicas=3", kubeconfig=kubeconfig)
        assert (registered(cluster), certificates(cluster)) == (before, kept)

        printed = run_here("install", RESOURCE_MANAGER, "--namespace", RELEASE, *values)
        assert printed.returncode == 0, printed.stderr
        for _ in range(2):
            cluster.kubectl("apply", "-f", "-", input=printed.stdout)
            assert (registered(cluster), certificates(cluster)) == (before, kept)
        assert refusals_of(cluster, RELEASE) == []
        assert process.terminate() == 0

    helm("uninstall", *release, kubeconfig=kubeconfig)
    left = cluster.kubectl("get", ",".join((*KINDS, "secret")), "-n", RELEASE, "-o", "name")
    assert NAME not in left


BY_FILES = ("--set", "config.server.webhooks.tls.provision=files")


def test_helm_leaves_registrations_alone_that_are_kept_while_a_process_takes_them_over(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    kubeconfig, values = cluster.kubeconfig(), ("-f", str(written(tmp_path / "values.yaml", VALUES)))
    upgrade = ("upgrade", "--install", RELEASE, "--namespace", RELEASE, str(CHART_FOLDERS / RESOURCE_MANAGER), *values)
    helm(*upgrade, *BY_FILES, kubeconfig=kubeconfig)
    before = registered(cluster)
    assert all(before)

    cluster.kubectl("annotate", ",".join(KINDS), NAME, "helm.sh/resource-policy=keep")
    helm(*upgrade, "--set", "part=process", kubeconfig=kubeconfig)
    assert registered(cluster) == before
    helm(*upgrade, kubeconfig=kubeconfig)
    assert registered(cluster) == before
    cluster.kubectl("annotate", ",".join(KINDS), NAME, "helm.sh/resource-policy-")

    helm("uninstall", RELEASE, "--namespace", RELEASE, kubeconfig=kubeconfig)
    assert NAME not in cluster.kubectl("get", ",".join(KINDS), "-o", "name")


def test_kubectl_leaves_registrations_alone_that_were_not_applied(cluster: ControlPlane, tmp_path: Path) -> None:
    values = ("-f", str(written(tmp_path / "values.yaml", VALUES)), "--part", "registrations")
    command = ("install", RESOURCE_MANAGER, "--namespace", RELEASE, *values)
    by_files, by_itself = (run_here(*command, *more).stdout for more in (BY_FILES, ()))
    cluster.kubectl("apply", "-f", "-", input=by_files)
    before = registered(cluster)
    assert all(before)

    cluster.kubectl("apply", "set-last-applied", "-f", "-", input=by_itself)
    cluster.kubectl("apply", "-f", "-", input=by_itself)
    assert registered(cluster) == before

    cluster.kubectl("delete", "-f", "-", input=by_itself)
