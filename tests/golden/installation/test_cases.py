"""What an installation consists of, for each case; README.md says how to read and add one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow
from tests.golden.installation.chart import CASES


@pytest.mark.parametrize(("component", "case"), CASES, ids=lambda part: getattr(part, "name", part))
def test_an_installation_consists_of_what_stands_there(
    component: str, case: Path, request: pytest.FixtureRequest
) -> None:
    expected = case / "objects.yaml"

    printed = CliRunner().invoke(hedgerow, ["install", component, "-f", str(case / "values.yaml")])

    assert printed.exit_code == 0, printed.output
    if request.config.getoption("--update-golden"):
        expected.write_text(printed.stdout, encoding="utf-8")
    assert printed.stdout == expected.read_text(encoding="utf-8")
