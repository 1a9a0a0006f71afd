"""Every golden case of `hedgerow simulate --for`; README.md says how to add one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.yaml"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_expected_happens(case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    arguments = Path("arguments.txt").read_text().split()
    ended = CliRunner().invoke(hedgerow, ["simulate", *arguments, "-f", "input.yaml"])
    actual = f"{ended.stdout}\n{ended.stderr}exit code {ended.exit_code}\n"
    if request.config.getoption("--update-golden"):
        Path("timeline.txt").write_text(actual)

    assert actual == Path("timeline.txt").read_text()
