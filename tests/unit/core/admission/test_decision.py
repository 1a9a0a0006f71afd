"""What a decision tells beside itself: what was changed, by whom, and with which code it is denied."""

from hedgerow.admission.webhook import Denied, Mutated, Mutation, bad_request, forbidden, internal_error, unanswered
from hedgerow.machinery.questions import NotAnswered

FIRST = {"spec": {"replicas": 1}, "kept": True}
SECOND = {"spec": {"replicas": 2}, "kept": True}
THIRD = {"spec": {"replicas": 2, "paused": True}, "kept": True}
TWO_RULES = Mutated((Mutation("replicas", FIRST, SECOND), Mutation("pause", SECOND, THIRD)))


def test_the_object_is_what_the_last_rule_left() -> None:
    assert TWO_RULES.object is THIRD


def test_the_patch_leads_from_the_object_before_all_rules_to_the_one_after_them() -> None:
    assert TWO_RULES.patch == [
        {"op": "add", "path": "/spec/paused", "value": True},
        {"op": "replace", "path": "/spec/replicas", "value": 2},
    ]


def test_each_rule_has_a_patch_of_its_own() -> None:
    assert [mutation.patch for mutation in TWO_RULES.mutations] == [
        [{"op": "replace", "path": "/spec/replicas", "value": 2}],
        [{"op": "add", "path": "/spec/paused", "value": True}],
    ]


def test_denials_have_the_codes_of_their_kind() -> None:
    assert forbidden("m") == Denied(403, "m", "Forbidden")
    assert bad_request("m") == Denied(400, "m")
    assert internal_error("m") == Denied(500, "m")


def test_what_could_not_be_found_out_is_undecided_and_answered_like_any_denial() -> None:
    refused = NotAnswered(429, "TooManyRequests", "slow down")
    missing = NotAnswered(404, "NotFound", "no such account")

    assert unanswered(refused) == Denied(429, "slow down", "TooManyRequests")
    assert [each.is_undecided for each in (internal_error("x"), unanswered(refused))] == [True, True]
    assert [each.is_undecided for each in (forbidden("x"), bad_request("x"), unanswered(missing))] == [False] * 3
