"""Every golden case of `hedgerow plan controller-registration`; README.md says how to add one."""

from pathlib import Path

import pytest

from tests.golden.plans import planned_here

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/input.yaml"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_expected_is_planned(case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    actual = planned_here("controller-registration")
    if request.config.getoption("--update-golden"):
        Path("plan.txt").write_text(actual)

    assert actual == Path("plan.txt").read_text()
