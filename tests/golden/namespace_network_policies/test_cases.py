"""Every golden case of the Namespace NetworkPolicy controller; README.md says how to add one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.yaml"))
CONTROLLER = "operator/networkpolicy"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_expected_is_planned_and_comes_about(
    case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case)
    planned = CliRunner().invoke(hedgerow, ["plan", CONTROLLER, "-f", "input.yaml", "-o", "table"])
    settled = CliRunner().invoke(hedgerow, ["simulate", CONTROLLER, "-f", "input.yaml"])
    actual = {
        "plan.txt": f"{planned.stdout}\n{planned.stderr}exit code {planned.exit_code}\n",
        "expected.yaml": settled.stdout,
    }
    if request.config.getoption("--update-golden"):
        for name, text in actual.items():
            Path(name).write_text(text)

    assert actual == {name: Path(name).read_text() for name in actual}
