"""Every golden case of admission; README.md says how to add one."""

import pytest

from hedgerow_adapters.files.sources import LoadedObject, Source
from hedgerow_adapters.files.writing import render_yaml
from tests.golden.admission.cases import Case, CaseResult, all_cases, outcome
from tests.virtual_clock import virtual_time


@pytest.mark.parametrize("case", [pytest.param(case, id=case.directory.name) for case in all_cases()])
@virtual_time
async def test_the_expected_is_decided_and_what_was_changed_needs_no_further_change(
    case: Case, request: pytest.FixtureRequest
) -> None:
    sent = case.objects("input.yaml")
    actual = await outcome(case, sent, case.objects("old.yaml"))
    if request.config.getoption("--update-golden"):
        rewrite(case, actual)

    assert actual.decisions == case.decisions
    assert [shown for _, shown in actual.admitted] == case.admitted
    changed = enumerate(manifest for manifest, _ in actual.admitted)
    admitted = [LoadedObject(manifest, Source("admitted", number)) for number, manifest in changed]
    kinds = {each.manifest["kind"] for each in admitted}
    facts = [each for each in sent if each.manifest["kind"] not in kinds]
    assert (await outcome(case, [*facts, *admitted], ())).admitted == []


def rewrite(case: Case, actual: CaseResult) -> None:
    """Write down what came out, where the files say something else."""
    (case.directory / "decisions.txt").write_text(actual.decisions)
    path, shown = case.directory / "expected.yaml", [shown for _, shown in actual.admitted]
    if not shown:
        path.unlink(missing_ok=True)
    elif case.admitted != shown:
        path.write_text(render_yaml(shown))
