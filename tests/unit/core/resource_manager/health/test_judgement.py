"""What an observer concludes from the status of a ManagedResource."""

from typing import Any

import pytest

from hedgerow.machinery.controller import Change
from hedgerow.resource_manager.health import (
    check,
    check_applied,
    check_healthy,
    check_progressing,
    conditions_changed,
)
from tests.unit.core.resource_manager.health.objects import condition

APPLIED, HEALTHY = condition("ResourcesApplied", "True"), condition("ResourcesHealthy", "True")
TYPES = ("ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing")


def managed_resource(*conditions: Any, generation: int = 1, observed: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "ns", "name": "n", "generation": generation},
        "status": {"observedGeneration": observed, "conditions": list(conditions)},
    }


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        pytest.param(
            managed_resource(APPLIED, HEALTHY, generation=2),
            "observed generation of managed resource ns/n outdated (1/2)",
            id="CK-1",
        ),
        pytest.param(
            managed_resource(APPLIED, HEALTHY, observed=2),
            "observed generation of managed resource ns/n outdated (2/1)",
            id="observed is ahead",
        ),
        pytest.param(
            managed_resource(),
            "condition ResourcesApplied for managed resource ns/n has not been reported yet",
            id="CK-2",
        ),
        pytest.param(
            managed_resource(APPLIED),
            "condition ResourcesHealthy for managed resource ns/n has not been reported yet",
            id="CK-3",
        ),
        pytest.param(
            managed_resource(condition("ResourcesApplied", "Progressing", "r", "x")),
            "condition ResourcesApplied of managed resource ns/n is Progressing: x",
            id="CK-4",
        ),
        pytest.param(
            managed_resource(APPLIED, condition("ResourcesHealthy", "False", "r", "z")),
            "condition ResourcesHealthy of managed resource ns/n is False: z",
            id="unhealthy",
        ),
        pytest.param(managed_resource(APPLIED, HEALTHY), None, id="CK-5"),
    ],
)
def test_a_managed_resource_is_applied_and_healthy_or_says_why_not(subject: dict[str, Any], text: str | None) -> None:
    assert check(subject) == text


def test_each_aspect_may_be_asked_for_alone() -> None:
    progressing = condition("ResourcesProgressing", "True", "r", "y")
    subject = managed_resource(HEALTHY, progressing, generation=2)

    assert check_applied(subject) == "observed generation of managed resource ns/n outdated (1/2)"
    assert check_healthy(subject) is None
    assert check_progressing(subject) == "condition ResourcesProgressing of managed resource ns/n is True: y"  # CK-5
    assert check_progressing(managed_resource(condition("ResourcesProgressing", "False"))) is None
    assert check_progressing(managed_resource()) == (
        "condition ResourcesProgressing for managed resource ns/n has not been reported yet"
    )


def test_a_generation_that_is_no_number_is_told() -> None:
    subject: dict[str, Any] = managed_resource(APPLIED, HEALTHY)
    subject["status"]["observedGeneration"] = "1"

    assert check(subject) == (
        "managed resource ns/n is unreadable: status.observedGeneration: expected an integer, got a string"
    )


@pytest.mark.parametrize("condition_type", TYPES)
def test_an_observer_sees_what_any_condition_says(condition_type: str) -> None:
    said = condition(condition_type, "True", "r", "m")
    old = managed_resource(said)
    variants = [{**said, field: "other"} for field in ("status", "reason", "message")]

    assert all(conditions_changed(Change(old, managed_resource(variant))) for variant in variants)
    assert conditions_changed(Change(old, managed_resource()))
    assert conditions_changed(Change(managed_resource(), old))


def test_an_observer_sees_nothing_else_but_creation_and_deletion() -> None:
    subject = managed_resource(APPLIED)
    moved = {**APPLIED, "lastUpdateTime": "2026-01-01T00:00:00Z"}
    same = managed_resource(condition("Other", "True"), moved, generation=2)

    assert conditions_changed(Change(None, subject))
    assert conditions_changed(Change(subject, None))
    assert not conditions_changed(Change(subject, same))
