"""How much a controller may delete."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.deletion_guard import (
    ALLOW_DELETIONS,
    ALWAYS_ALLOWED,
    Verdict,
    deleted_by,
    fingerprint,
    is_allowed_by,
    judge_deletions,
    only_allowance_changed,
    transform_allowance,
)
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Delete, Plan

COUNTS = st.integers(min_value=0, max_value=10_000)


@pytest.mark.parametrize(
    ("deletions", "owned", "at_first", "confirmed"),
    [
        pytest.param(0, 0, Verdict.PROCEED, Verdict.PROCEED, id="nothing of nothing"),
        pytest.param(1, 1, Verdict.PROCEED, Verdict.PROCEED, id="the only one"),
        pytest.param(20, 20, Verdict.PROCEED, Verdict.PROCEED, id="all of twenty"),
        pytest.param(21, 21, Verdict.CONFIRM, Verdict.STOP, id="all of twenty-one"),
        pytest.param(20, 21, Verdict.PROCEED, Verdict.PROCEED, id="twenty of twenty-one"),
        pytest.param(21, 69, Verdict.CONFIRM, Verdict.PROCEED, id="more than twenty and more than 30 percent"),
        pytest.param(21, 70, Verdict.PROCEED, Verdict.PROCEED, id="more than twenty but just 30 percent"),
        pytest.param(30, 100, Verdict.PROCEED, Verdict.PROCEED, id="just 30 percent of a hundred"),
        pytest.param(31, 100, Verdict.CONFIRM, Verdict.PROCEED, id="31 percent"),
        pytest.param(26, 29, Verdict.CONFIRM, Verdict.PROCEED, id="just under 90 percent of a few"),
        pytest.param(30, 32, Verdict.CONFIRM, Verdict.STOP, id="all but two of a few"),
        pytest.param(89, 100, Verdict.CONFIRM, Verdict.PROCEED, id="89 percent"),
        pytest.param(90, 100, Verdict.CONFIRM, Verdict.STOP, id="90 percent"),
        pytest.param(99, 100, Verdict.CONFIRM, Verdict.STOP, id="all but one"),
        pytest.param(100, 100, Verdict.CONFIRM, Verdict.STOP, id="everything"),
        pytest.param(101, 100, Verdict.CONFIRM, Verdict.STOP, id="more than is owned"),
        pytest.param(300_000, 1_000_000, Verdict.PROCEED, Verdict.PROCEED, id="30 percent of a million"),
        pytest.param(300_001, 1_000_000, Verdict.CONFIRM, Verdict.PROCEED, id="one more"),
        pytest.param(899_999, 1_000_000, Verdict.CONFIRM, Verdict.PROCEED, id="just under 90 percent of a million"),
        pytest.param(900_000, 1_000_000, Verdict.CONFIRM, Verdict.STOP, id="90 percent of a million"),
    ],
)
def test_what_is_more_than_twenty_and_30_percent_has_to_be_confirmed_and_from_90_on_is_never_believed(
    deletions: int, owned: int, at_first: Verdict, confirmed: Verdict
) -> None:
    assert judge_deletions(deletions, owned, confirmed=False) is at_first
    assert judge_deletions(deletions, owned, confirmed=True) is confirmed


@given(COUNTS, COUNTS)
def test_a_confirmation_settles_it_and_is_asked_for_only_where_it_can(deletions: int, owned: int) -> None:
    at_first = judge_deletions(deletions, owned, confirmed=False)

    assert at_first is not Verdict.STOP
    assert judge_deletions(deletions, owned, confirmed=True) is not Verdict.CONFIRM
    if at_first is Verdict.PROCEED:
        assert judge_deletions(deletions, owned, confirmed=True) is Verdict.PROCEED


@given(COUNTS, COUNTS)
def test_fewer_deletions_are_never_judged_harder(deletions: int, owned: int) -> None:
    if judge_deletions(deletions + 1, owned, confirmed=True) is Verdict.PROCEED:
        assert judge_deletions(deletions, owned, confirmed=True) is Verdict.PROCEED


@given(COUNTS)
def test_up_to_twenty_deletions_are_believed_of_however_few_objects(deletions: int) -> None:
    verdict = judge_deletions(deletions, deletions, confirmed=True)

    assert verdict is (Verdict.PROCEED if deletions <= ALWAYS_ALLOWED else Verdict.STOP)


OWNER = {"metadata": {"name": "cart", "resourceVersion": "7", "annotations": {"a": "b"}}, "spec": {"x": 1}}
POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")


def deletion(name: str, uid: str = "1") -> Delete:
    return Delete(POLICIES, ObjectKey("shop", name), "unwanted", uid)


def of(*deletions: Delete) -> str:
    return fingerprint(deleted_by(Plan(deletions)))


def test_a_fingerprint_stands_for_the_very_objects_in_any_order_whatever_the_reason() -> None:
    assert of(deletion("a"), deletion("b")) == of(deletion("b"), replace(deletion("a"), reason="superfluous"))
    others = (of(deletion("a")), of(deletion("a"), deletion("b", uid="2")), of(deletion("a"), deletion("c")))
    assert of(deletion("a"), deletion("b")) not in others


def test_only_the_annotation_with_that_fingerprint_allows_deletions() -> None:
    allowing = {"metadata": {"annotations": {ALLOW_DELETIONS: "0123456789ab"}}}

    assert is_allowed_by(allowing, "0123456789ab")
    assert not is_allowed_by(allowing, "ba9876543210")
    assert not is_allowed_by(OWNER, "0123456789ab")
    assert not is_allowed_by(None, "0123456789ab")


@pytest.mark.parametrize(
    ("metadata", "spec", "only"),
    [
        ({"resourceVersion": "8", "annotations": {"a": "b", ALLOW_DELETIONS: "0123456789ab"}}, {"x": 1}, True),
        ({"resourceVersion": "8", "annotations": {"a": "b", ALLOW_DELETIONS: "0123456789ab"}}, {"x": 2}, False),
        ({"resourceVersion": "8", "annotations": {"a": "c"}}, {"x": 1}, False),
        ({"resourceVersion": "8", "annotations": {"a": "b"}, "deletionTimestamp": "now"}, {"x": 1}, False),
    ],
)
def test_the_annotation_alone_is_no_change_of_an_owner(
    metadata: dict[str, object], spec: dict[str, int], *, only: bool
) -> None:
    assert only_allowance_changed(OWNER, {"metadata": {"name": "cart", **metadata}, "spec": spec}) is only


def test_transforms_keep_the_annotation_and_no_other() -> None:
    allowance = {ALLOW_DELETIONS: "0123456789ab"}

    assert transform_allowance({"metadata": {"annotations": {**allowance, "a": "b"}}}) == allowance
    assert transform_allowance(OWNER) == {}
