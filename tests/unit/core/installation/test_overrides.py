"""Other terms for webhooks: what API servers wait for, whom they ask about, and what they do without an answer."""

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.admission.registration import RegisteredWebhook
from hedgerow.installation.overrides import Override, on_terms_of, overridden, override_problems, strictness_problems
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from tests.golden.installation.chart import CHARTS

WEBHOOK = RegisteredWebhook("/a", "a.example.org", (), LabelSelector((("zone", "a"),)))
TEAM = {"matchLabels": {"team": "a"}}


def override(**stated: Any) -> Override:
    return Override.model_validate(stated)


def test_the_terms_of_one_webhook_count_more_than_those_of_all() -> None:
    overrides = {"*": override(timeoutSeconds=3, failurePolicy="Ignore"), "a.example.org": override(timeoutSeconds=7)}

    changed = overridden(WEBHOOK, overrides)

    assert (changed.timeout_seconds, changed.ignores_failures) == (7, True)
    assert overridden(WEBHOOK, {"b.example.org": override(timeoutSeconds=3)}) == WEBHOOK


def test_selectors_are_narrowed() -> None:
    further = {"matchExpressions": [{"key": "quiet", "operator": "DoesNotExist"}], **TEAM}

    changed = overridden(WEBHOOK, {"*": override(namespaceSelector=further, objectSelector=TEAM)})

    team, quiet = Requirement("team", Operator.IN, ("a",)), Requirement("quiet", Operator.DOES_NOT_EXIST)
    assert changed.namespace_selector == LabelSelector((("zone", "a"),), (team, quiet))
    assert changed.object_selector == LabelSelector((), (team,))
    assert overridden(WEBHOOK, {"*": override(timeoutSeconds=3)}).object_selector is None


def test_a_registration_has_the_terms_of_its_webhooks_and_keeps_what_else_it_says() -> None:
    entry = {"name": "a.example.org", "timeoutSeconds": 10, "sideEffects": "None"}

    webhook = overridden(WEBHOOK, {"*": override(timeoutSeconds=3)})
    (changed,) = on_terms_of({"kind": "k", "webhooks": [entry]}, [webhook])["webhooks"]

    assert (changed["timeoutSeconds"], changed["sideEffects"]) == (3, "None")


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        ({"c": override()}, 'webhooks.overrides: no webhook "c" is registered, only a, b'),
        (
            {"*": override(objectSelector={"matchLabel": {}})},
            "webhooks.overrides[*].objectSelector.matchLabel: is an unknown field; did you mean matchLabels?",
        ),
    ],
)
def test_what_cannot_be_applied_is_named(overrides: dict[str, Override], problem: str) -> None:
    assert [*override_problems(overrides, ["b", "a"])] == [problem]
    assert [*override_problems({"a": override(namespaceSelector=TEAM)}, ["a"])] == []


def test_a_webhook_that_everything_waits_for_goes_on_to_ignore_failures() -> None:
    lenient, strict = replace(WEBHOOK, ignores_failures=True), {"*": override(failurePolicy="Fail")}

    problem = (
        'webhooks.overrides: failurePolicy of the webhook "a.example.org" must be Ignore, '
        "as it is asked about pods without which the process does not run"
    )
    assert [*strictness_problems(strict, [lenient, WEBHOOK])] == [problem]
    assert [*strictness_problems({**strict, "a.example.org": override(failurePolicy="Ignore")}, [lenient])] == []


def test_an_installation_is_checked_and_registered_on_the_new_terms() -> None:
    config = {"webhooks": {"kubernetesServiceHost": {"enabled": True, "host": "api.example.org"}}}
    strict: Any = {"webhooks": {"overrides": {"*": {"failurePolicy": "Fail"}}}}

    chart = CHARTS["resource-manager"]
    usual, changed = chart.installed(config), chart.installed(config, **strict)

    assert [each.ignores_failures for each in usual.registered] == [True]
    assert [each.ignores_failures for each in changed.registered] == [False]
    assert [entry["failurePolicy"] for each in changed.registrations for entry in each["webhooks"]] == ["Fail"]
