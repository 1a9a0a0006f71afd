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
    """A decoded answer with everything secret in an Authorization header taken out of its texts.

    Args:
        said: a JSON value, or the text of an answer that is none.
        authorization: the header as it was sent; empty: none was.
    """
    secrets = _secrets_in(authorization)
    return _redacted(said, secrets) if secrets else said


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


def _redacted(value: Any, secrets: Sequence[str]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, REDACTED)
            return value
        case dict():
            return {name: _redacted(each, secrets) for name, each in value.items()}
        case list():
            return [_redacted(each, secrets) for each in value]
    return value
