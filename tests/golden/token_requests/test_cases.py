"""Every golden case of `hedgerow plan token-requestor`; README.md says how to add one."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.command import hedgerow

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.yaml"))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_expected_is_planned(case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    options = Path("options.txt").read_text().split() if Path("options.txt").exists() else []
    ended = CliRunner().invoke(hedgerow, ["plan", "token-requestor", "-f", "input.yaml", *options])
    given = set(TIME.findall(Path("input.yaml").read_text()))
    shown = TIME.sub(lambda time: time[0] if time[0] in given else "(now)", ended.stdout)
    actual = f"{shown}\n{ended.stderr}exit code {ended.exit_code}\n"
    if request.config.getoption("--update-golden"):
        Path("plan.txt").write_text(actual)

    assert actual == Path("plan.txt").read_text()
