"""A process that has to find out the id of its cluster before it can declare its controllers."""

import http.client
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane.processes import free_ports
from tests.e2e.resource_manager import ResourceManager, configuration, errors_of
from tests.e2e.sandbox import Sandbox, pair, service

REQUIRED = "<cluster>"
PROBLEM = "unable to determine cluster id: cannot determine cluster identity from configmap: "
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


def wanting(sandbox: Sandbox, cluster_id: str) -> dict[str, Any]:
    config = sandbox.configuration()
    config["controllers"]["clusterID"] = cluster_id
    return config


def test_a_cluster_without_identity_that_must_have_one_ends_the_process(sandbox: Sandbox) -> None:
    with ResourceManager(sandbox.folder, wanting(sandbox, REQUIRED)) as process:
        assert process.wait() == 1
        said = process.why_it_failed()

    assert said == f'{PROBLEM}configmaps "cluster-identity" not found'


@pytest.mark.parametrize("cluster_id", [REQUIRED, "<default>"])
def test_a_process_that_knows_its_cluster_works(sandbox: Sandbox, cluster_id: str) -> None:
    identity = {"metadata": {"name": "cluster-identity"}, "data": {"cluster-identity": "garden-1"}}
    assert sandbox.control_plane.request("POST", CONFIG_MAPS, identity)[0] == http.client.CREATED
    sandbox.create(service(sandbox.namespace("shop"), "cart"))

    try:
        with ResourceManager(sandbox.folder, wanting(sandbox, cluster_id)) as process:
            sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
            assert errors_of(process.log_lines()) == []
    finally:
        sandbox.control_plane.request("DELETE", f"{CONFIG_MAPS}/cluster-identity")


def test_a_process_whose_cluster_is_away_waits_for_it_and_can_be_stopped(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(nobody_at(port)), encoding="utf-8")
    config = configuration(kubeconfig)
    config["controllers"]["clusterID"] = REQUIRED

    with ResourceManager(tmp_path, config) as process:
        process.wait_for_line("Cluster id cannot be determined, trying again")
        assert process.probe("/healthz/ping")[0] == http.client.OK
        assert process.probe("/readyz")[0] == http.client.INTERNAL_SERVER_ERROR
        assert process.terminate() == 0
        assert [line["msg"] for line in process.log_lines("Stop")] == ["Stopping", "Stopped"]


def nobody_at(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{port}"}}],
        "users": [{"name": "x", "user": {"token": "secret"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "x"}}],
        "current-context": "c",
    }
