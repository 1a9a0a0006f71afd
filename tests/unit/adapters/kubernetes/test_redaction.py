"""What a server repeats of a request's credentials does not get further."""

import base64
from typing import Any

import pytest

from hedgerow_adapters.kubernetes.redaction import without_credentials

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
        pytest.param(f"{BASIC} is me, pass:word", BASIC, "Basic [redacted] is me, [redacted]", id="a password"),
        pytest.param("no such user", "Basic not-base64", "no such user", id="a header that is none"),
        pytest.param("no such user", "", "no such user", id="no header"),
        pytest.param(None, "Bearer abc", None, id="no body"),
    ],
)
def test_credentials_are_taken_out_of(said: Any, authorization: str, told: Any) -> None:
    assert without_credentials(said, authorization) == told
