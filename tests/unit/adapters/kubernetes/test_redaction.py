"""What a server repeats of a request's credentials does not get further."""

import base64
from typing import Any

import pytest

from hedgerow_adapters.kubernetes.answers import event_without_credentials, without_credentials

BASIC = f"Basic {base64.b64encode(b'me:pass:word').decode()}"


@pytest.mark.parametrize(
    ("said", "authorization", "told"),
    [
        pytest.param("who is Bearer abc?", "Bearer abc", "who is Bearer [redacted]?", id="a text"),
        pytest.param(
            {"message": "abc", "details": {"causes": [{"message": "no abc"}]}, "code": 401},
            "Bearer abc",
            {"message": "[redacted]", "details": {"causes": [{"message": "no [redacted]"}]}, "code": 401},
            id="a Status, however deep",
        ),
        pytest.param(
            {"kind": "Status", "reason": "Forbidden", "message": "as Forbidden", "details": {"name": "Forbidden"}},
            "Bearer Forbidden",
            {"kind": "Status", "reason": "Forbidden", "message": "as [redacted]", "details": {"name": "Forbidden"}},
            id="what people read, not what decisions do",
        ),
        pytest.param(["abc", {"message": ["abc"]}], "Bearer abc", ["abc", {"message": ["abc"]}], id="no Status"),
        pytest.param(f"{BASIC} is me, pass:word", BASIC, "Basic [redacted] is me, [redacted]", id="a password"),
        pytest.param("no such user", "Basic not-base64", "no such user", id="a header that is none"),
        pytest.param("no such user", "", "no such user", id="no header"),
        pytest.param(None, "Bearer abc", None, id="no body"),
    ],
)
def test_credentials_are_taken_out_of(said: Any, authorization: str, told: Any) -> None:
    assert without_credentials(said, authorization) == told


def test_credentials_are_taken_out_of_the_errors_of_a_watch_and_of_nothing_else_in_it() -> None:
    refusal = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "abc is too old"}}
    change = {"type": "ADDED", "object": {"status": {"message": "abc"}}}

    assert event_without_credentials(refusal, "Bearer abc")["object"] == {
        "code": 410,
        "reason": "Expired",
        "message": "[redacted] is too old",
    }
    assert event_without_credentials(change, "Bearer abc") is change
