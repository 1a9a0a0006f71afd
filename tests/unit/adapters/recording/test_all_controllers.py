"""Of all controllers: records hold no secret, and the same is decided whenever, and wherever, the same is told."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.plan import actions_in
from hedgerow.machinery.recording.codec import encoded
from hedgerow.machinery.recording.journal import Journal
from hedgerow_adapters.recording import record_lines
from tests.e2e.canaries import Canaries
from tests.unit.adapters.recording import landscape
from tests.unit.adapters.recording.landscape import OVERWRITTEN, PROCESSES, NothingIsSecret, recorded
from tests.unit.adapters.recording.session import redaction, repeated
from tests.unit.confidential_objects import MALFORMED, PLACES

HASH_SEEDS = ("1", "2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def test_a_record_of_all_controllers_holds_no_secret_and_repeats_exactly(path: Path) -> None:
    canaries = Canaries()

    session = recorded(path, canaries, redaction())

    for each in session.cluster.objects(SECRETS):
        for name, value in each.get("data", {}).items():
            if name in {"token", "kubeconfig"}:
                canaries.known(f"granted to {each['metadata']['name']}", base64.b64decode(value).decode())
    assert session.problems == []
    assert canaries.seen_in([path.read_text(encoding="utf-8")]) == set()
    found = repeated(path, session.controllers)
    assert (found.differences, found.skipped) == ([], 0)
    # What is wrong with a document, or with a Secret, is said in words that depend on what nobody may read.
    assert {each.key.name for each in found.decisions if each.acted is not None} == {"broken", "malformed"}


def test_the_landscape_is_one_of_secrets_and_has_all_controllers_write(path: Path) -> None:
    """Else the other tests could not fail."""
    canaries = Canaries()

    recorded(path, canaries, NothingIsSecret())

    seen = canaries.seen_in([path.read_text(encoding="utf-8")])
    assert seen >= {f"{place} of inner" for place in PLACES if place != OVERWRITTEN} | {f"{OVERWRITTEN} of keyed"}
    assert seen >= {f"{place} of malformed-{number}" for number, place in enumerate(MALFORMED)}
    assert seen >= {"a copy of outer", "broken document", "comment", "kubeconfig", "old token"}
    decisions = [line for _, line in record_lines(path) if isinstance(line, Journal)]
    wanted = ((each.controller, part.wants) for each in decisions for part in each.parts)
    writing = {controller for controller, wants in wanted if wants is not None and actions_in(wants)}
    assert {each.name for each in landscape.controllers()} == writing


def test_the_same_is_decided_in_one_process_and_in_others_with_other_hash_seeds(tmp_path: Path) -> None:
    for process in PROCESSES:
        recorded(tmp_path / process, Canaries(), NothingIsSecret(), process)
    live = [
        [encoded(part.wants) for part in line.parts]
        for process in PROCESSES
        for _, line in record_lines(tmp_path / process)
        if isinstance(line, Journal)
    ]

    again = [landscape.decided_again(tmp_path) for _ in range(2)]
    again += [decided_elsewhere(tmp_path, seed) for seed in HASH_SEEDS]

    assert len(live) > 100
    assert [run == live for run in again] == [True] * 4


def decided_elsewhere(folder: Path, hash_seed: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-m", landscape.__name__, str(folder)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[4],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(run.stdout)
