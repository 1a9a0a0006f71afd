"""What the bytes of an answer say: the JSON value of a body, or that it is none.

Pure: knows nothing of connections.
"""

from collections.abc import Mapping
from typing import Any

from returns.result import Failure, Result, Success

from hedgerow_adapters.protocol import json_codec


def decoded_body(content: bytes, *, headers: Mapping[str, str], accept: str, is_success: bool) -> Result[Any, str]:
    """The value of a body, or what is wrong with it, as the end of a sentence that began with "the answer".

    A failure may come from a proxy or a filter that speaks plain text, which then is the value. A success that is not
    JSON although JSON was asked for comes from something else than an API server.

    Args:
        content: the whole body.
        headers: the answer's headers by their names in lower case.
        accept: the content types that were asked for.
        is_success: whether the status says so.
    """
    if is_json(headers):
        return decoded_json(content)
    media_type = _media_type(headers)
    if is_success and content and accept.startswith("application/json"):
        return Failure(f"is {media_type or 'of no type'}, not JSON")
    return Success(content.decode(errors="replace") if content else None)


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a body with these headers is to be a JSON text."""
    return _media_type(headers).endswith("json")


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def decoded_json(content: bytes) -> Result[Any, str]:
    """The value of a JSON text, or that it is none."""
    try:
        return Success(json_codec.decode(content))
    except ValueError:
        return Failure("is not JSON")


def lower_case_names(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}
