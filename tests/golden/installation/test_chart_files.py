"""The files of the charts are made out of templates, declarations and types, and are up to date."""

from pathlib import Path

import pytest

from tests.golden.installation.chart import CHARTS

FOLDER = Path(__file__).parents[3] / "deploy" / "charts"
FILES = [(chart, name) for chart, made in CHARTS.items() for name in made.files()]


@pytest.mark.parametrize(("chart", "name"), FILES)
def test_a_file_of_a_chart_says_what_is_declared(chart: str, name: str, request: pytest.FixtureRequest) -> None:
    file, text = FOLDER / chart / name, CHARTS[chart].files()[name]
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_has_no_other_files(chart: str) -> None:
    there = {str(file.relative_to(FOLDER / chart)) for file in (FOLDER / chart).rglob("*") if file.is_file()}

    assert there == {*CHARTS[chart].files()}
