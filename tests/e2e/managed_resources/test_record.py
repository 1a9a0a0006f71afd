"""A process that records, ended in every way, and the repetition of what it has decided."""

import base64
import json
import secrets
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.canaries import Canaries
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, named
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.resource_manager import run_command

TOKENS = "resources.gardener.cloud"


def recording(sandbox: ManagedResourceSandbox, record: Path, name: str) -> Manager:
    tokens = {"enabled": True, "class": sandbox.class_name, "sourceNamespaces": [sandbox.namespace]}
    controllers = {"tokenRequestor": tokens, "garbageCollector": {"enabled": True}}
    return Manager(sandbox.folder, sandbox.configuration(controllers=controllers), name=name, record=record)


def secret_with(sandbox: ManagedResourceSandbox, canaries: Canaries, name: str) -> dict[str, Any]:
    data = {"password": base64.b64encode(canaries.new(f"{name} data").encode()).decode()}
    secret = named("v1", "Secret", sandbox.namespace, name, data=data, stringData={"b": canaries.new(f"{name} text")})
    last_applied = {"kubectl.kubernetes.io/last-applied-configuration": canaries.new(f"{name} as applied")}
    return {**secret, "metadata": {**secret["metadata"], "annotations": last_applied}}


def token_secret(sandbox: ManagedResourceSandbox) -> dict[str, Any]:
    secret = named("v1", "Secret", sandbox.namespace, "wants-a-token", data={})
    annotations = {
        f"serviceaccount.{TOKENS}/name": "baker",
        f"serviceaccount.{TOKENS}/namespace": sandbox.namespace,
    }
    labels = {f"{TOKENS}/purpose": "token-requestor", f"{TOKENS}/class": sandbox.class_name}
    return {**secret, "metadata": {**secret["metadata"], "annotations": annotations, "labels": labels}}


def token_in(secret: Mapping[str, Any]) -> str:
    return base64.b64decode(secret.get("data", {}).get("token", "")).decode()


@pytest.fixture(scope="module")
def canaries() -> Canaries:
    return Canaries()


def test_what_a_process_records_holds_no_secret_and_repeats_exactly(
    sandbox: ManagedResourceSandbox, canaries: Canaries, tmp_path: Path
) -> None:
    record = tmp_path / "decisions.jsonl"
    waiting = token_secret(sandbox)
    with recording(sandbox, record, "killed") as process:
        process.wait_ready()
        sandbox.deliver("shop", secret_with(sandbox, canaries, "shop"), config_map(sandbox.namespace, "shop"))
        sandbox.create(waiting)
        sandbox.wait_until_applied()
        sandbox.wait_for(lambda: bool(token_in(sandbox.get(waiting))), "there is a token")
        process.send_signal(signal.SIGKILL)
        process.wait()
    canaries.known("token", token_in(sandbox.get(waiting)))
    with recording(sandbox, record, "ended") as process:
        process.wait_ready()
        sandbox.redeliver("shop", secret_with(sandbox, canaries, "shop"), config_map(sandbox.namespace, "shop", a="b"))
        sandbox.wait_for(
            lambda: sandbox.get(config_map(sandbox.namespace, "shop"))["data"] == {"a": "b"}, "it is applied"
        )
        process.wait_until_idle()
        assert process.terminate() == 0
        assert process.troubles() == []

    repeated = run_command("replay", str(record))

    assert (repeated.returncode, repeated.stdout) == (0, "")
    assert repeated.stderr.splitlines()[-1].endswith("decisions repeated, none different")
    assert canaries.seen_in([record.read_text(encoding="utf-8"), process.output()]) == set()
    deciders = {line["controller"] for line in lines_of(record) if "controller" in line}
    assert {"managedresource", "secret", "token-requestor", "health"} <= deciders
    assert [line["acted"] for line in lines_of(record) if "acted" in line] == []

    changed = changed_record(record, tmp_path)
    shown = run_command("replay", str(changed), "--controller", "managedresource")
    assert shown.returncode == 2
    assert "has another plan" in shown.stdout
    assert '-  "requeue_after": 7.0' in shown.stdout


def lines_of(record: Path) -> list[dict[str, Any]]:
    lines = record.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def changed_record(record: Path, folder: Path) -> Path:
    """The same record, but of one decision that is said to have been another."""
    lines = lines_of(record)
    turns = [line["parts"] for line in lines if line.get("controller") == "managedresource" and line.get("parts")]
    ends = [parts[-1].get("wants", {}) for parts in turns]
    last = next(wants for wants in reversed(ends) if "requeue_after" in wants)
    last["requeue_after"] = 7.0
    changed = folder / f"changed-{secrets.token_hex(4)}.jsonl"
    changed.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return changed
