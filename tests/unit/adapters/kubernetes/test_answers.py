"""What the bytes of an answer say."""

from typing import Any

import pytest

from hedgerow_adapters.kubernetes.answers import UnreadableError, decoded_body, lower_case_names


@pytest.mark.parametrize(
    ("content", "media_type", "is_success", "value"),
    [
        pytest.param(b'{"a":1}', "application/json", True, {"a": 1}, id="json"),
        pytest.param(b"[]", "application/json; charset=utf-8", True, [], id="json with parameters"),
        pytest.param(b"{}", "application/problem+json", False, {}, id="a kind of json"),
        pytest.param(b"404 page not found\n", "text/plain", False, "404 page not found\n", id="the text of a refusal"),
        pytest.param(b"\xff", "text/plain", False, "\N{REPLACEMENT CHARACTER}", id="no text at all"),
        pytest.param(b"", "", True, None, id="nothing"),
    ],
)
def test_a_body_is_its_value(content: bytes, media_type: str, is_success: bool, value: Any) -> None:  # noqa: FBT001 -- a case's
    body = decoded_body(content, headers={"content-type": media_type}, accept="application/json", is_success=is_success)

    assert body == value


@pytest.mark.parametrize(
    ("content", "headers", "problem"),
    [
        pytest.param(b"{", {"content-type": "application/json"}, "is not JSON", id="broken"),
        pytest.param(b"", {"content-type": "application/json"}, "is not JSON", id="empty"),
        pytest.param(b"<html>", {"content-type": "text/html"}, "is text/html, not JSON", id="a login page"),
        pytest.param(b"x", {}, "is of no type, not JSON", id="no type"),
    ],
)
def test_a_success_that_is_no_json_is_no_answer(content: bytes, headers: dict[str, str], problem: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        decoded_body(content, headers=headers, accept="application/json", is_success=True)

    assert str(raised.value) == problem


def test_who_asks_for_anything_gets_text() -> None:
    body = decoded_body(b"ok", headers={"content-type": "text/plain"}, accept="*/*", is_success=True)

    assert body == "ok"


def test_header_names_are_in_lower_case() -> None:
    assert lower_case_names({"Retry-After": "1", "X-Foo": "Bar"}) == {"retry-after": "1", "x-foo": "Bar"}
