"""Which answers ask to be asked again, and after how long.

An API server that has too much to do, or whose part behind it is away, says so with `Retry-After`. Nothing else is
asked again by the transport: whether a repetition helps, and is safe, the callers know.
"""

from collections.abc import Mapping
from typing import Final

MAX_RETRIES: Final = 10
"""As Kubernetes' own clients."""

_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERRORS: Final = range(500, 600)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a `Retry-After` header; none if there is no such header, or one with a date.

    Args:
        headers: an answer's headers by their names in lower case.
    """
    value = headers.get("retry-after", "").strip()
    return float(value) if value.isascii() and value.isdigit() else None


def wait_before_retry(status: int, headers: Mapping[str, str], *, retries: int) -> float | None:
    """The seconds after which a request is sent again; none if its answer stands.

    Args:
        status: the answer's HTTP status.
        headers: its headers by their names in lower case.
        retries: how often the request was sent again already.
    """
    if retries >= MAX_RETRIES or not (status == _TOO_MANY_REQUESTS or status in _SERVER_ERRORS):
        return None
    return retry_after(headers)
