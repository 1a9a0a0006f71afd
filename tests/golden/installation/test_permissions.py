"""What each feature has to be allowed, as people read it; a change shows in the table beside this file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.golden.installation.chart import CHARTS, FOLDERS


def lines(feature: Mapping[str, Any]) -> list[str]:
    switch = " and ".join(" or ".join(group) for group in feature["when"])
    return [switch or "always", *(f"  {line(each)}" for each in feature["permissions"]), ""]


def line(permission: Mapping[str, Any]) -> str:
    resource = ".".join(filter(None, (permission["resource"], permission["group"])))
    where = f" in {permission['namespace']}" if "namespace" in permission else ""
    names = f" {json.dumps(permission['names'])}" if "names" in permission else ""
    return f"{permission['cluster']}: {', '.join(permission['verbs'])} {resource}{names}{where}"


@pytest.mark.parametrize(("component", "folder"), FOLDERS.items(), ids=FOLDERS)
def test_every_feature_is_allowed_what_it_needs_and_nothing_else(
    component: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    expected = folder / "permissions.txt"
    table = "\n".join(each for feature in CHARTS[component].permission_features() for each in lines(feature))
    if request.config.getoption("--update-golden"):
        expected.write_text(table, encoding="utf-8")

    assert table == expected.read_text(encoding="utf-8")
