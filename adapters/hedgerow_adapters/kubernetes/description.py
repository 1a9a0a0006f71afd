"""What files say about a connection: where the server is, whom to trust, and who we are to it."""

from dataclasses import dataclass, field
from pathlib import Path

from hedgerow_adapters.kubernetes.authorization import Authorization, FixedAuthorization, TokenFile
from hedgerow_adapters.kubernetes.tls import TlsMaterial


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
    """The Authorization header as far as it is embedded; empty: none is."""
    token_file: Path | None = None
    """Holds a token that wins over the embedded one."""
    tls: TlsMaterial | None = None
    """Trust and client certificate; none for plain HTTP."""

    @property
    def server_and_trust(self) -> str:
        """Which server it is, under which name, and whether it must prove that; a text for messages."""
        name = f" as {self.server_name}" if self.server_name else ""
        is_unverified = self.tls is not None and not self.tls.verify
        return f"{self.server}{name}{', unverified' if is_unverified else ''}"

    def authorization(self) -> Authorization:
        """The token file if there is one; what is embedded is used until it can be read."""
        return TokenFile(self.token_file, self.header) if self.token_file else FixedAuthorization(self.header)
