"""The files of the chart that are made out of declarations and types are up to date."""

from pathlib import Path

import pytest

from tests.golden.installation.chart import chart_files

CHART = Path(__file__).parents[3] / "deploy" / "charts" / "resource-manager"


@pytest.mark.parametrize("name", chart_files())
def test_a_file_of_the_chart_says_what_is_declared(name: str, request: pytest.FixtureRequest) -> None:
    file, text = CHART / name, chart_files()[name]
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")
