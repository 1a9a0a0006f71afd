"""What files say about a connection, and what a request shows its server. No text of it shows a secret."""

import ssl
from dataclasses import dataclass, field

from hedgerow_adapters.kubernetes.tls import TlsMaterial


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one request shows the server, and how it knows that server: both of one reading."""

    authorization: str = field(default="", repr=False)
    """The Authorization header; empty: none."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Trust and client certificate; none for plain HTTP."""


def bearer(content: bytes) -> str:
    """The Authorization header for a token as it stands in a file; empty: there is none in it."""
    token = content.decode("ascii", errors="replace").strip()
    return f"Bearer {token}" if token and token.isascii() and token.isprintable() else ""


@dataclass(frozen=True, slots=True)
class Description:
    """The content of a kubeconfig or of a service account; equal ones make equal connections."""

    source: str
    """Which files, for messages."""
    server: str
    """URL without a slash at its end; may have a path."""
    server_name: str | None = None
    """The name that the server's certificate is for, where that is not the URL's host."""
    header: str = field(default="", repr=False)
    """The Authorization header; empty: none."""
    tls: TlsMaterial | None = None
    """Trust and client certificate; none for plain HTTP."""

    @property
    def server_and_trust(self) -> str:
        """Which server it is, under which name, and how it must prove that; a text for messages."""
        name = f" as {self.server_name}" if self.server_name else ""
        pinned = " with a given authority" if self.tls and self.tls.authorities is not None else ""
        unverified = ", unverified" if self.tls and not self.tls.verify else ""
        return f"{self.server}{name}{pinned}{unverified}"

    @property
    def is_anonymous(self) -> bool:
        """Whether it says nothing of who we are."""
        return not self.header and (self.tls is None or self.tls.certificate is None)


def change_for_a_restart(last: Description, new: Description) -> str | None:
    """Why a process that runs must not follow a change, as a clause; none: it may."""
    if new.server_and_trust != last.server_and_trust:
        # All that is known came from the last server: to believe it of another one could delete everything there.
        return f"it was for {last.server_and_trust} and is for {new.server_and_trust} now"
    if new.is_anonymous and not last.is_anonymous:
        # Rather a file that is half written, and well-formed all the same, than what anybody wants.
        return "it had credentials and has none now"
    return None
