"""What a request shows its server, and by what it knows that server.

Secret values show in no text of these objects.
"""

import ssl
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Shown:
    """What one request shows the server, and how it knows that server: both of one reading."""

    authorization: str = field(default="", repr=False)
    """The Authorization header; empty: none."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Trust and client certificate; none for plain HTTP."""


class Identity(Protocol):
    """Where that comes from."""

    def shown(self) -> Shown:
        """What to show with a request sent now: other TLS settings where trust or client certificate are others."""
        ...

    def renewed(self) -> Shown:
        """What to show after the server refused what was shown last: everything is read again."""
        ...


class FixedIdentity:
    """One that does not change as long as the process runs."""

    __slots__ = ("_shown",)

    def __init__(self, authorization: str = "") -> None:
        self._shown = Shown(authorization)

    def shown(self) -> Shown:
        """The same as ever."""
        return self._shown

    def renewed(self) -> Shown:
        """The same as ever."""
        return self._shown


def bearer(content: bytes) -> str:
    """The Authorization header for a token as it stands in a file; empty: there is none in it."""
    token = content.decode("ascii", errors="replace").strip()
    return f"Bearer {token}" if token and token.isascii() and token.isprintable() else ""
