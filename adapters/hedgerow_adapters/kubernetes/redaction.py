"""What a server says of a refused request, without the credentials that the request carried.

What servers, proxies and filters say is told in logs and events, and some of them repeat what they were sent.

Pure: knows nothing of connections.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

REDACTED: Final = "[redacted]"


def without_credentials(said: Any, authorization: str) -> Any:
    """A refusal with everything secret in an Authorization header taken out of what people read of it.

    That is its messages alone: a short password may be part of a reason, which decisions are made by.

    Args:
        said: a Status or another JSON value, or the text of an answer that is none.
        authorization: the header as it was sent; empty: none was.
    """
    secrets = _secrets_in(authorization)
    if not secrets:
        return said
    return _redacted(said, secrets) if isinstance(said, str) else _with_redacted_messages(said, secrets)


def event_without_credentials(event: Any, authorization: str) -> Any:
    """A decoded event of a watch, the same if it is about an object: an ERROR is a refusal."""
    match event:
        case {"type": "ERROR"}:
            return without_credentials(event, authorization)
    return event


def _secrets_in(authorization: str) -> Sequence[str]:
    """What nobody may read, the longest first, as one may be part of another."""
    scheme, _, credential = authorization.partition(" ")
    secrets = {credential}
    if scheme.lower() == "basic":
        secrets.add(_password_in(credential))
    return sorted(secrets - {""}, key=len, reverse=True)


def _password_in(credential: str) -> str:
    try:
        return base64.b64decode(credential).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _with_redacted_messages(value: Any, secrets: Sequence[str]) -> Any:
    match value:
        case dict():
            return {
                name: _redacted(each, secrets)
                if name == "message" and isinstance(each, str)
                else _with_redacted_messages(each, secrets)
                for name, each in value.items()
            }
        case list():
            return [_with_redacted_messages(each, secrets) for each in value]
    return value


def _redacted(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text
