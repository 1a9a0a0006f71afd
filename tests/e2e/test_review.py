"""`hedgerow review` looks facts up in a live cluster, and does nothing else there."""

import http.client
import json
from pathlib import Path

import yaml

from tests.e2e.resource_manager import run_command
from tests.e2e.sandbox import Sandbox


def test_facts_come_from_the_cluster_and_nothing_is_written(sandbox: Sandbox, tmp_path: Path) -> None:
    shop = sandbox.namespace("shop")
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
    assert sandbox.control_plane.request("POST", path, account)[0] == http.client.CREATED
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(pod))

    done = run_command(
        *("review", "projected-token-mount", "-f", str(tmp_path / "pod.yaml")),
        *("--kubeconfig", str(sandbox.kubeconfig), "-o", "json"),
    )

    assert (done.returncode, done.stderr) == (2, "1 changed\n")
    assert [rule["rule"] for rule in json.loads(done.stdout)[0]["rules"]] == ["token-volume", "token-mounts"]
    asked = {event["verb"] for event in sandbox.control_plane.audit_events(sandbox.user)}
    assert asked <= {"get", "list"}
