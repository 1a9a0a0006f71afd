"""Every golden case of `hedgerow health`; README.md says how to add one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.yaml"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_object_gets_the_expected_verdict(case: Path, request: pytest.FixtureRequest) -> None:
    ended = CliRunner().invoke(hedgerow, ["health", "-f", str(case / "input.yaml")])
    actual = f"{ended.stdout}\n{ended.stderr}exit code {ended.exit_code}\n"
    if request.config.getoption("--update-golden"):
        (case / "verdicts.txt").write_text(actual)

    assert actual == (case / "verdicts.txt").read_text()
