"""The validation of extension kinds and Etcds against what the reference answered."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.admission import Allowed, Decision, Denied
from hedgerow.admission.extension_validation import webhooks
from hedgerow.admission.review import parse_review
from hedgerow.machinery.failures import FieldErrorType, Problem
from tests.golden.reference.recordings import cases
from tests.unit.core.admission.world import decided

WEBHOOKS = {webhook.path: webhook for webhook in webhooks()}
FIRST_WORDS = {Problem("", "", error_type).reason: error_type.value.partition(" ")[0] for error_type in FieldErrorType}


@pytest.mark.parametrize("recording", [*cases("extension-validation.jsonl")])
def test_the_same_fields_are_found_wrong(recording: Mapping[str, Any]) -> None:
    review = parse_review({"request": recording["request"]}).unwrap()

    decision = decided(WEBHOOKS[recording["path"]], review.request)

    assert isinstance(decision, Allowed) is recording["allowed"]
    assert errors_of(decision) == {tuple(error) for error in recording["errors"]}


def errors_of(decision: Decision) -> set[tuple[str, str]]:
    """Fields and kinds of errors, as the recording names them."""
    if not isinstance(decision, Denied):
        return set()
    assert decision.details is not None, decision.message
    return {(cause["field"], FIRST_WORDS[cause["reason"]]) for cause in decision.details["causes"]}
