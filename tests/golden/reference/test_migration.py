"""A plan for what the extension's original has left: `docs/migration.md` names every change that it may show."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from tests.e2e.resource_manager import run_here
from tests.golden.reference.recordings import cases

EXPECTED = {("change", "ConfigMap", "shoot-rsyslog-relp-prometheus"), ("change", "Extension", "shoot-rsyslog-relp")}
OWN = ("managedResources", "secrets", "configMaps")


def has_settled(case: Any) -> bool:
    """Whether the original had nothing left to do; a case that only tells of a missing recording counts."""
    (recording,) = case.values
    if recording is None:
        return True
    after = recording["after"]
    return (
        recording["error"] is None
        and not recording["faults"]
        and after is not None
        and "deletionTimestamp" not in after["metadata"]
        and "gardener.cloud/operation" not in after["metadata"].get("annotations", {})
        and after.get("status", {}).get("lastOperation", {}).get("state") == "Succeeded"
    )


@pytest.mark.parametrize("recording", [each for each in cases("rsyslog-relp-actuator.jsonl") if has_settled(each)])
def test_a_settled_extension_gets_the_corrected_monitoring_and_nothing_else(
    recording: Mapping[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "left.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": left_by_the_original(recording)}))

    done = run_here("plan", "rsyslog-relp", "-f", str(file), "-o", "json")

    assert done.returncode in {0, 2}, done.stderr
    actions = {(each["action"], each["kind"], each["name"]) for each in json.loads(done.stdout)["actions"]}
    assert actions <= EXPECTED


def left_by_the_original(recording: Mapping[str, Any]) -> list[Manifest]:
    """All objects as they were when it had settled."""
    own: list[Manifest] = [recording["after"], *(each for name in OWN for each in recording[name])]
    replaced = {identity(each) for each in own}
    beside = [stored(each) for each in recording["objects"] if identity(each) not in replaced]
    text = json.dumps([*beside, *map(stored, own)]).replace('"NOW"', '"2026-01-02T03:04:05Z"')
    everything: list[Manifest] = json.loads(text)
    return everything


def identity(manifest: Manifest) -> tuple[str, str, str]:
    return manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]


def stored(manifest: Manifest) -> Manifest:
    """The object as an API server has it: recordings show what Secrets hold as it reads."""
    if manifest["kind"] != "Secret":
        return manifest
    texts = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in manifest.get("data", {}).items()
    }
    return {**manifest, "data": {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}}
