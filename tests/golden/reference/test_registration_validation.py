"""The validation and the defaults of registrations, against what the reference found wrong."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.failures import FieldErrorType
from hedgerow.registration.registrations import Registration, with_defaults
from hedgerow.registration.validation import other_primary, problems_of
from tests.golden.reference.recordings import cases

TYPES = {
    FieldErrorType.REQUIRED: "Required",
    FieldErrorType.INVALID: "Invalid",
    FieldErrorType.UNSUPPORTED: "NotSupported",
    FieldErrorType.DUPLICATE: "Duplicate",
    FieldErrorType.FORBIDDEN: "Forbidden",
}
NAMES = {"metadata.name", "metadata.generateName"}

Recording = Mapping[str, Any]


@pytest.mark.parametrize("recording", [*cases("registration-validation.jsonl")])
def test_the_same_is_wrong_and_the_same_defaults_are_set(recording: Recording) -> None:
    manifest = recording["object"]
    # The API server makes a name, and checks it.
    ignored = NAMES if manifest["metadata"].get("generateName") else set()

    problems = problems_of(recording["kind"], manifest, recording["old"])

    assert {(each.path, TYPES[each.type]) for each in problems if each.type and each.path not in ignored} == {
        (path, kind) for path, kind in recording["errors"] if path not in ignored
    }
    if recording["kind"] == "ControllerRegistration":
        others = [Registration.of(other) for other in recording["others"]]
        conflict = other_primary(Registration.of(manifest), others)
        assert without_nothing(with_defaults(manifest)["spec"]) == without_nothing(recording["defaulted"]["spec"])
        assert (conflict or "") in (recording["admission"] or "")
        assert (conflict is None) is (recording["admission"] is None)


def without_nothing(value: Any) -> Any:
    """A value without absent, null and empty lists, which mean the same."""
    if isinstance(value, dict):
        return {name: without_nothing(item) for name, item in value.items() if item not in (None, [])}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value
