"""Which states of an object a metric tells."""

from typing import Any

import pytest

from hedgerow.machinery.reported_states import conditions_reported


def with_conditions(*conditions: Any) -> dict[str, Any]:
    return {"metadata": {"name": "cart"}, "status": {"conditions": [*conditions]}}


def test_each_condition_that_is_asked_for_has_its_status() -> None:
    states = conditions_reported("Applied", "Healthy")
    stored = with_conditions(
        {"type": "Healthy", "status": "False"},
        {"type": "Applied", "status": "Progressing"},
        {"type": "Foreign", "status": "True"},
    )

    assert states(stored) == (("Applied", "Progressing"), ("Healthy", "False"))


@pytest.mark.parametrize(("initial", "found"), [("", ()), ("Unknown", (("Applied", "Unknown"),))])
def test_a_condition_that_nobody_has_written_yet_is_left_out_or_has_a_status_of_its_own(
    initial: str, found: object
) -> None:
    states = conditions_reported("Applied", initial=initial)

    assert states({"metadata": {"name": "cart"}}) == found
    assert states(with_conditions({"type": "Applied"}, "no object")) == found


def test_an_object_of_somebody_else_has_no_states() -> None:
    states = conditions_reported("Applied", initial="Unknown", concerns=lambda each: each["metadata"]["name"] != "cart")

    assert states(with_conditions({"type": "Applied", "status": "True"})) == ()
