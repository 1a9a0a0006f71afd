"""Conditions: how they begin, change, merge and fail."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.conditions import (
    Condition,
    conditions_of,
    failed,
    get_or_init,
    merge,
    updated,
)

THEN = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
MINUTE = timedelta(minutes=1)
HEALTHY = Condition("Healthy", "True", "AllGood", "all is good", THEN, THEN)

TEXTS = st.sampled_from(["", "a", "b"])
TIMES = st.none() | st.just(THEN)
CONDITIONS = st.builds(
    Condition, st.just("Healthy"), TEXTS, TEXTS, TEXTS, TIMES, TIMES, st.lists(TEXTS, max_size=1).map(tuple)
)
SAID = st.none() | TEXTS


def test_a_condition_begins_unknown() -> None:
    assert get_or_init([], "Healthy", NOW).manifest() == {
        "type": "Healthy",
        "status": "Unknown",
        "reason": "ConditionInitialized",
        "message": "The condition has been initialized but its semantic check has not been performed yet.",
        "lastTransitionTime": "2026-01-01T13:00:00Z",
        "lastUpdateTime": "2026-01-01T13:00:00Z",
    }


def test_a_condition_has_a_type() -> None:
    with pytest.raises(ValueError, match="conditionType cannot be empty"):
        get_or_init([], "", NOW)


def test_a_stored_condition_is_found_and_another_one_begins() -> None:
    assert get_or_init([HEALTHY], "Healthy", NOW) == HEALTHY
    assert get_or_init([HEALTHY], "Applied", NOW) == get_or_init([], "Applied", NOW)


def test_a_change_of_status_moves_the_time_of_transition_alone() -> None:
    condition = updated(HEALTHY, "False", now=NOW)

    assert condition == replace(HEALTHY, status="False", last_transition_time=NOW)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"reason": "Other"}, {"reason": "Other"}),
        ({"message": "other"}, {"message": "other"}),
        ({"codes": ["ERR"]}, {"codes": ("ERR",)}),
        ({"reason": ""}, {"reason": "Unspecified"}),
        ({"message": ""}, {"message": "No message given."}),
    ],
)
def test_a_change_of_words_moves_the_time_of_update_alone(said: dict[str, Any], expected: dict[str, Any]) -> None:
    condition = updated(HEALTHY, "True", **said, now=NOW)

    assert condition == replace(HEALTHY, last_update_time=NOW, **expected)


def test_what_is_said_again_changes_nothing() -> None:
    assert updated(HEALTHY, "True", "AllGood", "all is good", now=NOW) == HEALTHY
    assert updated(HEALTHY, now=NOW) == HEALTHY


def test_old_codes_are_not_carried_over() -> None:
    assert updated(replace(HEALTHY, codes=("ERR",)), now=NOW) == replace(HEALTHY, last_update_time=NOW)


def test_a_condition_that_never_said_anything_begins_with_the_update() -> None:
    assert updated(Condition("Healthy"), now=NOW) == get_or_init([], "Healthy", NOW)


def test_times_that_nobody_stated_become_now() -> None:
    stated = replace(HEALTHY, last_transition_time=None, last_update_time=None)

    assert updated(stated, now=NOW) == replace(HEALTHY, last_transition_time=NOW, last_update_time=NOW)


@given(CONDITIONS, SAID, SAID, SAID)
def test_to_say_the_same_twice_is_to_say_it_once(
    old: Condition, status: str | None, reason: str | None, message: str | None
) -> None:
    once = updated(old, status, reason, message, now=NOW)

    assert updated(once, status, reason, message, now=NOW + MINUTE) == once


def test_conditions_keep_their_places_and_new_ones_follow_in_order() -> None:
    a, b, c, d = (Condition(letter, "True") for letter in "abcd")
    b_false = replace(b, status="False")

    assert merge([a, b], d, b_false, c) == (a, b_false, d, c)
    assert merge([], d, c) == (d, c)
    assert merge([a, b]) == (a, b)


def test_a_condition_survives_the_way_through_a_manifest() -> None:
    condition = replace(HEALTHY, codes=("ERR",))

    assert conditions_of({"status": {"conditions": [condition.manifest()]}}) == (condition,)


@pytest.mark.parametrize("manifest", [{}, {"status": None}, {"status": {}}, {"status": {"conditions": None}}])
def test_an_object_may_have_no_conditions(manifest: dict[str, Any]) -> None:
    assert conditions_of(manifest) == ()


def test_what_is_unreadable_in_conditions_counts_as_not_said() -> None:
    stored = [None, "text", {"type": "A", "status": True, "lastUpdateTime": "yesterday", "codes": ["x", 1]}]

    assert conditions_of({"status": {"conditions": stored}}) == (Condition("A", codes=("x", "")),)


def after_failure(old: str, *, reason: str = "Bad", **threshold: Any) -> str:
    """The status of a condition that has said something for 90 seconds, reworded 30 seconds ago, and now fails."""
    condition = Condition("Healthy", old, "Bad", "it is bad", NOW - 1.5 * MINUTE, NOW - 0.5 * MINUTE)
    return failed(condition, reason, "it is bad", now=NOW, **threshold).status


@pytest.mark.parametrize("status", ["True", "Progressing", "False", "Unknown", ""])
def test_without_a_threshold_a_failure_is_a_failure(status: str) -> None:
    assert after_failure(status, last_success=NOW) == "False"


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        ("True", "Bad", "Progressing"),
        ("Progressing", "Bad", "False"),
        ("False", "Bad", "False"),
        ("False", "Worse", "Progressing"),
        ("Unknown", "Worse", "False"),
    ],
)
def test_a_threshold_gives_time_until_it_has_passed(status: str, reason: str, expected: str) -> None:
    assert after_failure(status, reason=reason, threshold=MINUTE) == expected


@pytest.mark.parametrize(
    ("threshold", "since_update", "expected"),
    [
        (1.5 * MINUTE, False, "Progressing"),
        (1.4 * MINUTE, False, "False"),
        (0.5 * MINUTE, True, "Progressing"),
        (0.4 * MINUTE, True, "False"),
    ],
)
def test_a_threshold_counts_from_either_time_and_includes_its_end(
    threshold: timedelta, expected: str, *, since_update: bool
) -> None:
    assert after_failure("Progressing", threshold=threshold, since_update=since_update) == expected


@pytest.mark.parametrize(
    ("last_success", "expected"),
    [(NOW - MINUTE, "Progressing"), (NOW - 1.1 * MINUTE, "False"), (None, "False")],
)
@pytest.mark.parametrize("status", ["Progressing", "False"])
def test_a_failure_soon_after_a_success_of_the_operation_is_progress(
    status: str, last_success: datetime | None, expected: str
) -> None:
    assert after_failure(status, threshold=MINUTE, last_success=last_success) == expected


def test_a_condition_without_times_has_only_begun() -> None:
    condition = Condition("Healthy", "Progressing", "Bad")

    update = failed(condition, "Worse", "it is worse", ["ERR"], threshold=MINUTE, now=NOW)

    assert update == Condition("Healthy", "Progressing", "Worse", "it is worse", NOW, NOW, ("ERR",))
