"""How the status of a ManagedResource is written side by side with others, and what an observer concludes from it."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.managed_resource_status import (
    check,
    check_applied,
    check_healthy,
    check_progressing,
    conditions_changed,
    status_patch,
)
from hedgerow.machinery.conditions import Condition, conditions_of, merge
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.unit.core.resource_manager.health.objects import condition

NOW: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
APPLIED: Final = Condition("ResourcesApplied", "True", "ApplySucceeded", "All resources are applied.", NOW, NOW)
HEALTHY: Final = Condition("ResourcesHealthy", "Unknown", "ChecksPending", "Not yet.", NOW, NOW)
REFERENCE: Final = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "default"}


def _managed_resource(status: Any = None, version: str = "7") -> Manifest:
    metadata = {"namespace": "default", "name": "example", "resourceVersion": version}
    return {"metadata": metadata, "spec": {"secretRefs": []}, **({} if status is None else {"status": status})}


def _conditions(*conditions: Condition) -> Manifest:
    return {"conditions": [condition.manifest() for condition in conditions]}


def _patched(managed_resource: Manifest, *conditions: Condition, **members: Any) -> Any:
    patch = status_patch(managed_resource, conditions, reason="test", **members)
    assert patch is not None
    return apply_json_patch(managed_resource, patch.operations).unwrap()["status"]


def test_what_the_status_says_already_is_not_written_again() -> None:
    stored = _managed_resource(
        {
            **_conditions(HEALTHY, APPLIED),
            "observedGeneration": 2,
            "resources": [REFERENCE],
            "secretsDataChecksum": "c",
        }
    )
    members: Any = {"resources": [REFERENCE], "checksum": "c", "observed_generation": 2}

    assert status_patch(stored, [APPLIED, HEALTHY], reason="test", **members) is None


def test_a_first_status_is_written_whole_and_only_to_the_version_that_was_seen() -> None:
    before = _managed_resource()

    patch = status_patch(before, [HEALTHY, APPLIED], reason="test", checksum="c", resources=[], observed_generation=1)

    assert patch is not None
    assert apply_json_patch(before, patch.operations).unwrap()["status"] == {
        **_conditions(HEALTHY, APPLIED),
        "observedGeneration": 1,
        "secretsDataChecksum": "c",
    }
    assert not isinstance(apply_json_patch(_managed_resource(version="8"), patch.operations).value_or(None), dict)


def test_a_condition_is_replaced_while_others_write_theirs() -> None:
    failed = Condition("ResourcesApplied", "False", "ApplyFailed", "No.", NOW, NOW)
    healthy = Condition("ResourcesHealthy", "True", "ResourcesHealthy", "Fine.", NOW, NOW)
    patch = status_patch(_managed_resource(_conditions(HEALTHY, APPLIED)), [failed], reason="test")

    assert patch is not None
    meanwhile = _managed_resource(_conditions(healthy, APPLIED), version="9")
    assert apply_json_patch(meanwhile, patch.operations).unwrap()["status"] == _conditions(healthy, failed)


def test_a_condition_that_somebody_else_has_changed_meanwhile_is_not_overwritten() -> None:
    mine = Condition("ResourcesHealthy", "True", "ResourcesHealthy", "Fine.", NOW, NOW)
    theirs = Condition("ResourcesHealthy", "False", "DeletionPending", "Going.", NOW, NOW)
    patch = status_patch(_managed_resource(_conditions(HEALTHY)), [mine], reason="test")

    assert patch is not None
    assert apply_json_patch(_managed_resource(_conditions(theirs)), patch.operations).value_or(None) is None


def test_what_people_have_written_is_not_tested_for() -> None:
    told = Condition("ResourcesHealthy", "False", "ConfigMapMissing", "a < b & c", NOW, NOW)
    patch = status_patch(_managed_resource(_conditions(told)), [HEALTHY], reason="test")

    assert patch is not None
    assert told.message not in str([operation for operation in patch.operations if operation["op"] == "test"])
    assert _patched(_managed_resource(_conditions(told)), HEALTHY) == _conditions(HEALTHY)


def test_references_that_are_no_more_are_removed() -> None:
    stored = _managed_resource({**_conditions(APPLIED), "resources": [REFERENCE]})

    assert _patched(stored, APPLIED, resources=[])["resources"] == []


def test_a_status_of_another_shape_is_replaced_where_it_cannot_be_read() -> None:
    assert _patched(_managed_resource("what?"), APPLIED) == _conditions(APPLIED)
    assert _patched(_managed_resource({"conditions": "what?"}), APPLIED) == _conditions(APPLIED)
    assert _patched(_managed_resource({"conditions": [7]}), APPLIED) == {"conditions": [7, APPLIED.manifest()]}


_CONDITIONS: Final = st.lists(
    st.builds(
        Condition,
        st.sampled_from(["ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing", "Other"]),
        st.sampled_from(["True", "False"]),
        st.sampled_from(["A", "B"]),
        st.just("Text."),
        st.just(NOW),
        st.just(NOW),
    ),
    max_size=4,
    unique_by=lambda condition: condition.type,
)


@given(_CONDITIONS, _CONDITIONS)
def test_whatever_stood_there_the_conditions_are_the_old_ones_with_the_new_ones_in_their_place(
    old: list[Condition], new: list[Condition]
) -> None:
    before = _managed_resource(_conditions(*old) if old else None)
    patch = status_patch(before, new, reason="test")

    after = before if patch is None else apply_json_patch(before, patch.operations).unwrap()
    assert conditions_of(after) == merge(old, *new)
    assert status_patch(after, new, reason="test") is None


IS_APPLIED, IS_HEALTHY = condition("ResourcesApplied", "True"), condition("ResourcesHealthy", "True")
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
            managed_resource(IS_APPLIED, IS_HEALTHY, generation=2),
            "observed generation of managed resource ns/n outdated (1/2)",
            id="CK-1",
        ),
        pytest.param(
            managed_resource(IS_APPLIED, IS_HEALTHY, observed=2),
            "observed generation of managed resource ns/n outdated (2/1)",
            id="observed is ahead",
        ),
        pytest.param(
            managed_resource(),
            "condition ResourcesApplied for managed resource ns/n has not been reported yet",
            id="CK-2",
        ),
        pytest.param(
            managed_resource(IS_APPLIED),
            "condition ResourcesHealthy for managed resource ns/n has not been reported yet",
            id="CK-3",
        ),
        pytest.param(
            managed_resource(condition("ResourcesApplied", "Progressing", "r", "x")),
            "condition ResourcesApplied of managed resource ns/n is Progressing: x",
            id="CK-4",
        ),
        pytest.param(
            managed_resource(IS_APPLIED, condition("ResourcesHealthy", "False", "r", "z")),
            "condition ResourcesHealthy of managed resource ns/n is False: z",
            id="unhealthy",
        ),
        pytest.param(managed_resource(IS_APPLIED, IS_HEALTHY), None, id="CK-5"),
    ],
)
def test_a_managed_resource_is_applied_and_healthy_or_says_why_not(subject: dict[str, Any], text: str | None) -> None:
    assert check(subject) == text


def test_each_aspect_may_be_asked_for_alone() -> None:
    progressing = condition("ResourcesProgressing", "True", "r", "y")
    subject = managed_resource(IS_HEALTHY, progressing, generation=2)

    assert check_applied(subject) == "observed generation of managed resource ns/n outdated (1/2)"
    assert check_healthy(subject) is None
    assert check_progressing(subject) == "condition ResourcesProgressing of managed resource ns/n is True: y"  # CK-5
    assert check_progressing(managed_resource(condition("ResourcesProgressing", "False"))) is None
    assert check_progressing(managed_resource()) == (
        "condition ResourcesProgressing for managed resource ns/n has not been reported yet"
    )


def test_a_generation_that_is_no_number_is_told() -> None:
    subject: dict[str, Any] = managed_resource(IS_APPLIED, IS_HEALTHY)
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
    subject = managed_resource(IS_APPLIED)
    moved = {**IS_APPLIED, "lastUpdateTime": "2026-01-01T00:00:00Z"}
    same = managed_resource(condition("Other", "True"), moved, generation=2)

    assert conditions_changed(Change(None, subject))
    assert conditions_changed(Change(subject, None))
    assert not conditions_changed(Change(subject, same))


def test_a_first_status_of_an_object_without_a_version_has_no_precondition() -> None:
    patch = status_patch(_managed_resource(version=""), [HEALTHY], reason="test")

    assert patch is not None
    assert [operation["op"] for operation in patch.operations] == ["add"]
