"""What an installation consists of, for each case; README.md says how to read and add one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow
from tests.golden.installation.chart import CASES

DEFINITION = "kind: CustomResourceDefinition\n"


@pytest.mark.parametrize(("component", "case"), CASES, ids=lambda part: getattr(part, "name", part))
def test_an_installation_consists_of_what_stands_there(
    component: str, case: Path, request: pytest.FixtureRequest
) -> None:
    expected = case / "objects.yaml"

    printed = CliRunner().invoke(hedgerow, ["install", component, "-f", str(case / "values.yaml")])

    assert printed.exit_code == 0, printed.output
    objects = "---\n".join(each for each in printed.stdout.split("---\n") if DEFINITION not in each)
    if request.config.getoption("--update-golden"):
        expected.write_text(objects, encoding="utf-8")
    assert objects == expected.read_text(encoding="utf-8")
