"""Every golden case of the Service NetworkPolicy controller; README.md says how to add one."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import key_of
from tests.golden.network_policies.cases import Case, Outcome, all_cases, documents, outcome, rendered

EVERY_CASE = pytest.mark.parametrize("case", [pytest.param(case, id=case.directory.name) for case in all_cases()])


@EVERY_CASE
def test_the_expected_policies_exist(case: Case, request: pytest.FixtureRequest) -> None:
    actual = outcome(case.objects, case.config)
    if request.config.getoption("--update-golden"):
        rewrite(case, actual)
    expected = documents(case.directory / "expected.yaml")
    assert actual.policies == {key_of(policy): policy for policy in expected}
    assert actual.failures == case.lines("failures.txt")
    if (case.directory / "plan.txt").exists():
        assert actual.actions == case.lines("plan.txt")


@EVERY_CASE
def test_a_second_look_changes_nothing(case: Case) -> None:
    others = [manifest for manifest in case.objects if manifest["kind"] != "NetworkPolicy"]

    again = outcome([*others, *documents(case.directory / "expected.yaml")], case.config)

    assert again.actions == []


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.directory.name) for case in all_cases() if (case.directory / "excerpt.yaml").exists()],
)
def test_the_expected_policies_hold_every_field_of_the_excerpt(case: Case) -> None:
    expected = {key_of(policy): policy for policy in documents(case.directory / "expected.yaml")}

    for excerpt in documents(case.directory / "excerpt.yaml"):
        assert part_of(expected[key_of(excerpt)], excerpt) == excerpt


def part_of(whole: Any, excerpt: Any) -> Any:
    """What a value says on the fields that an excerpt names."""
    if not isinstance(excerpt, Mapping):
        return whole
    return {name: part_of(whole[name], excerpt[name]) for name in excerpt}


def rewrite(case: Case, actual: Outcome) -> None:
    """Write down what came out, where the files say something else; a plan only where one was asked for."""
    expected = case.directory / "expected.yaml"
    if {key_of(policy): policy for policy in documents(expected)} != actual.policies or not expected.exists():
        expected.write_text(rendered(actual.policies[key] for key in sorted(actual.policies)))
    failures = case.directory / "failures.txt"
    if actual.failures:
        failures.write_text("".join(f"{line}\n" for line in actual.failures))
    else:
        failures.unlink(missing_ok=True)
    plan = case.directory / "plan.txt"
    if plan.exists():
        plan.write_text("".join(f"{line}\n" for line in actual.actions))
