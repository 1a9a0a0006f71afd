"""One review of a webhook: the decision, made again after each answered question, and never without end.

Every driver runs the same loop, whether it asks an API server, an in-memory cluster or files::

    turn = ReviewTurn(webhook, request)
    while not isinstance(review := turn.review(snapshot), Allowed | Denied):
        turn = turn.told(review, ...)  # the answer to the question

Source: webhooks-and-tokens §3.2.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from hedgerow.admission.decision import Allowed, Denied, Review
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook
from hedgerow.machinery.questions import Answer, Answers, Question
from hedgerow.machinery.snapshot import Snapshot

MOST_QUESTIONS: Final = 8
"""Questions of one review; a webhook needs one or two."""


class EndlessReviewError(RuntimeError):
    """A webhook asks without end: a defect."""


@dataclass(frozen=True, slots=True)
class ReviewTurn:
    """A request at a webhook, and the answers so far."""

    webhook: Webhook
    request: AdmissionRequest
    answers: Answers = field(default_factory=dict[Question, Answer])

    def review(self, snapshot: Snapshot) -> Review:
        """The decision, or the next question, which was not asked before.

        Raises:
            EndlessReviewError: the webhook repeats a question, or asks more than `MOST_QUESTIONS`.
        """
        review = self.webhook.review(self.request, snapshot, self.answers)
        if isinstance(review, Allowed | Denied):
            return review
        if review in self.answers:
            raise EndlessReviewError(f"{self.webhook.name} asks again for what it was told")
        if len(self.answers) >= MOST_QUESTIONS:
            raise EndlessReviewError(f"{self.webhook.name} asks more than {MOST_QUESTIONS} questions")
        return review

    def told(self, question: Question, answer: Answer) -> "ReviewTurn":
        """The turn with the answer to its last question."""
        return replace(self, answers={**self.answers, question: answer})
