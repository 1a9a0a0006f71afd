"""`hedgerow review` looks facts up in a live cluster, and does nothing else there."""

import http.client
import json
from pathlib import Path

import yaml

from tests.e2e.resource_manager import run_command
from tests.e2e.territory import Territory


def test_facts_come_from_the_cluster_and_nothing_is_written(territory: Territory, tmp_path: Path) -> None:
    shop = territory.namespace("shop")
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "web", "namespace": shop},
        "automountServiceAccountToken": False,
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": shop},
        "spec": {"serviceAccountName": "web", "containers": [{"name": "web", "image": "web"}]},
    }
    path = f"/api/v1/namespaces/{shop}/serviceaccounts"
    assert territory.control_plane.request("POST", path, account)[0] == http.client.CREATED
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(pod))

    done = run_command(
        *("review", "projected-token-mount", "-f", str(tmp_path / "pod.yaml")),
        *("--kubeconfig", str(territory.kubeconfig), "-o", "json"),
    )

    assert (done.returncode, done.stderr) == (2, "1 changed\n")
    assert [rule["rule"] for rule in json.loads(done.stdout)[0]["rules"]] == ["token-volume", "token-mounts"]
    asked = {event["verb"] for event in territory.control_plane.audit_events(territory.user)}
    assert asked <= {"get", "list"}
