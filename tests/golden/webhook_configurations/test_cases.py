"""Every golden case of registration objects; README.md says how to add one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.configuration import decode

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/config.yaml"))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_what_is_enabled_is_registered_as_expected(case: Path, request: pytest.FixtureRequest) -> None:
    actual = outcome(case)
    if request.config.getoption("--update-golden"):
        rewrite(case / "expected.yaml", actual)

    assert actual == documents(case / "expected.yaml")


def outcome(case: Path) -> list[Manifest]:
    config = decode(yaml.safe_load((case / "config.yaml").read_text()), Purpose.OFFLINE).unwrap().configuration
    cluster = yaml.safe_load((case / "cluster.yaml").read_text())
    objects = build_webhook_configurations(
        Mode(cluster["mode"]),
        cluster.get("namePrefix", ""),
        cluster["namespace"],
        cluster.get("caBundle", "").encode(),
        config.admission,
    )
    return list(objects)


def documents(path: Path) -> list[Any]:
    return list(yaml.load_all(path.read_text(), yaml.CSafeLoader)) if path.exists() else []


def rewrite(path: Path, actual: Sequence[Manifest]) -> None:
    if not path.exists() or documents(path) != actual:
        path.write_text(yaml.safe_dump_all(actual, sort_keys=False, width=float("inf")))
