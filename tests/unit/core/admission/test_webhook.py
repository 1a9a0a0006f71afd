"""How rules make a decision together, and what a webhook makes of objects that it cannot read."""

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.admission import Allowed, Decision, Denied, Mutated, Webhook, creation, deletion, update
from hedgerow.admission.request import CONNECT, AdmissionRequest
from hedgerow.admission.webhook import MOST_READS, apply_rules, forbidden, mutating
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.reading import text_at, with_value
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import EndlessDecisionError, Pause
from hedgerow_adapters.cache import StoreSnapshot
from tests.unit.core.admission.world import told

POD = {"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "a"}}
EMPTY = StoreSnapshot({})


def renamed(name: str) -> Any:
    def rule(pod: Manifest) -> Manifest:
        return with_value(pod, ("spec", "nodeName"), f"{text_at(pod, 'spec', 'nodeName')}{name}")

    return rule


def unchanged(pod: Manifest) -> Manifest:
    return pod


def test_each_rule_sees_what_the_one_before_it_left() -> None:
    decision = apply_rules(POD, [("b", renamed("b")), ("nothing", unchanged), ("c", renamed("c"))])

    assert isinstance(decision, Mutated)
    assert decision.object == {**POD, "spec": {"nodeName": "abc"}}
    assert [mutation.rule for mutation in decision.mutations] == ["b", "c"]


def test_without_a_change_there_are_no_mutations() -> None:
    assert apply_rules(POD, [("nothing", unchanged)]) == Allowed()


def test_the_first_denial_counts_and_nothing_else() -> None:
    rules = [("b", renamed("b")), ("no", lambda _: forbidden("no")), ("never", lambda _: forbidden("never"))]

    assert apply_rules(POD, rules) == forbidden("no")


def reading_review(request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
    """The review of a webhook that reads a text."""
    return Allowed(message=text_at(request.object, "spec", "nodeName") or "")


REVIEW = mutating(PODS, reading_review)


@pytest.mark.parametrize("request_", [creation(PODS, POD), update(PODS, POD, None)])
def test_an_object_of_the_right_type_is_reviewed(request_: AdmissionRequest) -> None:
    assert REVIEW(request_, EMPTY) == Allowed(message="a")


def test_a_deletion_is_allowed_unseen() -> None:
    assert REVIEW(deletion(PODS, "anything"), EMPTY) == Allowed()


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "there is no object in the request"),
        ("x", "expected an object, got a string"),
        ([], "expected an object, got a list"),
        (True, "expected an object, got a boolean"),
        (1.5, "expected an object, got a decimal number"),
        ({}, "expected Pod of v1, got null of null"),
        ({**POD, "kind": "Secret"}, "expected Pod of v1, got Secret of v1"),
        ({**POD, "apiVersion": "v2"}, "expected Pod of v1, got Pod of v2"),
        ({**POD, "kind": "P" * 1000}, f"expected Pod of v1, got {'P' * 80} of v1"),
        ({**POD, "kind": ["Pod"]}, "expected Pod of v1, got a list of v1"),
        ({**POD, "spec": []}, "spec: expected an object, got a list"),
        ({**POD, "spec": {"nodeName": 1}}, "spec.nodeName: expected a string, got an integer"),
    ],
)
def test_an_object_that_cannot_be_read_is_denied_and_the_message_says_why(manifest: Any, message: str) -> None:
    assert REVIEW(creation(PODS, manifest), EMPTY) == Denied(400, message)


def test_a_type_is_told_however_deep_or_long_it_is() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert REVIEW(creation(PODS, {**POD, "kind": deep, "apiVersion": {}}), EMPTY) == Denied(
        400, "expected Pod of v1, got a list of an object"
    )


def test_a_connection_without_an_object_is_denied() -> None:
    request = replace(creation(PODS, None), operation=CONNECT)

    assert REVIEW(request, EMPTY) == Denied(400, "there is no object in the request")


READ = ObjectQuestion(PODS, ObjectKey("shop", "cart"), Cluster.TARGET)


def test_what_cannot_be_read_after_a_live_read_is_denied_too() -> None:
    async def review(request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        await READ
        return Allowed(message=text_at(request.object, "spec", "nodeName") or "")

    webhook = Webhook("test", "/test", mutating(PODS, review))
    unreadable = creation(PODS, {**POD, "spec": {"nodeName": 1}})

    assert told(webhook, creation(PODS, POD), Found(())) == (Allowed(message="a"), [READ])
    assert told(webhook, unreadable, Found(())) == (
        Denied(400, "spec.nodeName: expected a string, got an integer"),
        [READ],
    )


def reading(times: int) -> Webhook:
    async def review(_request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        for _ in range(times):
            await READ
        return Allowed()

    return Webhook("test", "/test", review)


def test_a_review_may_read_as_often_as_the_bound_and_no_more() -> None:
    assert told(reading(MOST_READS), creation(PODS, POD), Found(())) == (Allowed(), [READ] * MOST_READS)
    with pytest.raises(EndlessDecisionError, match="about a request to test has not ended after 8 steps"):
        told(reading(MOST_READS + 1), creation(PODS, POD), Found(()))


def test_a_review_may_only_read() -> None:
    async def review(_request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        await Pause()
        return Allowed()

    with pytest.raises(TypeError, match="a review awaits Pause, which is no read"):
        told(Webhook("test", "/test", review), creation(PODS, POD), Found(()))
