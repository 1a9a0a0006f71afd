"""A review asks question by question, and comes to an end."""

import pytest

from hedgerow.admission import Allowed, Denied, Webhook, creation
from hedgerow.admission.decision import Review
from hedgerow.admission.turn import MOST_QUESTIONS, EndlessReviewError, ReviewTurn
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import Answers, Found, ObjectQuestion
from hedgerow_adapters.cache import StoreSnapshot

POD = creation(PODS, {"metadata": {"name": "cart", "namespace": "shop"}})
NOTHING = StoreSnapshot({}, {})
EMPTY = Found(())


def question(number: int) -> ObjectQuestion:
    return ObjectQuestion(PODS, ObjectKey("shop", str(number)), Cluster.TARGET)


def asking(questions: int) -> Webhook:
    """A webhook that allows once it has so many answers."""

    def review(_request: object, _snapshot: object, answers: Answers) -> Review:
        return Allowed() if len(answers) == questions else question(len(answers))

    return Webhook("test", "/test", review)


def driven(webhook: Webhook) -> tuple[Review, ReviewTurn]:
    """The decision and the turn at its end, with every question answered."""
    turn = ReviewTurn(webhook, POD)
    while not isinstance(review := turn.review(NOTHING), Allowed | Denied):
        turn = turn.told(review, EMPTY)
    return review, turn


def test_a_webhook_is_told_the_answers_to_all_its_questions() -> None:
    review, turn = driven(asking(2))

    assert (review, turn.answers) == (Allowed(), {question(0): EMPTY, question(1): EMPTY})


def test_a_review_may_ask_as_many_questions_as_the_bound_and_no_more() -> None:
    assert driven(asking(MOST_QUESTIONS))[0] == Allowed()
    with pytest.raises(EndlessReviewError, match="test asks more than 8 questions"):
        driven(asking(MOST_QUESTIONS + 1))


def test_a_question_that_was_answered_is_not_asked_again() -> None:
    repeating = Webhook("test", "/test", lambda _request, _snapshot, _answers: question(0))

    with pytest.raises(EndlessReviewError, match="test asks again for what it was told"):
        driven(repeating)
