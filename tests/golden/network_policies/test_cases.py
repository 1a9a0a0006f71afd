"""Every golden case of the Service NetworkPolicy controller; README.md says how to add one."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from tests.golden.network_policies.cases import Case, CaseResult, all_cases, documents, outcome, rendered


@pytest.mark.parametrize("case", [pytest.param(case, id=case.directory.name) for case in all_cases()])
def test_the_expected_policies_exist_and_a_second_look_changes_nothing(
    case: Case, request: pytest.FixtureRequest
) -> None:
    actual = outcome(case.objects, case.config)
    if request.config.getoption("--update-golden"):
        rewrite(case, actual)

    assert actual.policies == expected(case)
    assert actual.failures == case.lines("failures.txt")
    if (case.directory / "plan.txt").exists():
        assert actual.actions == case.lines("plan.txt")
    for excerpt in documents(case.directory / "excerpt.yaml"):
        assert part_of(actual.policies[key_of(excerpt)], excerpt) == excerpt
    others = [manifest for manifest in case.objects if manifest["kind"] != "NetworkPolicy"]
    assert outcome([*others, *actual.policies.values()], case.config).actions == []


def expected(case: Case) -> Mapping[ObjectKey, Manifest]:
    return by_key(documents(case.directory / "expected.yaml"))


def by_key(manifests: Iterable[Manifest]) -> Mapping[ObjectKey, Manifest]:
    return {key_of(manifest): manifest for manifest in manifests}


def part_of(whole: Any, excerpt: Any) -> Any:
    """What a value says on the fields that an excerpt names."""
    if not isinstance(excerpt, Mapping):
        return whole
    return {name: part_of(whole[name], excerpt[name]) for name in excerpt}


def rewrite(case: Case, actual: CaseResult) -> None:
    """Write down what came out, where the files say something else; a plan only where one was asked for."""
    path = case.directory / "expected.yaml"
    if not path.exists() or expected(case) != actual.policies:
        path.write_text(rendered(actual.policies[key] for key in sorted(actual.policies)))
    failures = case.directory / "failures.txt"
    if actual.failures:
        failures.write_text("".join(f"{line}\n" for line in actual.failures))
    else:
        failures.unlink(missing_ok=True)
    plan = case.directory / "plan.txt"
    if plan.exists():
        plan.write_text("".join(f"{line}\n" for line in actual.actions))
