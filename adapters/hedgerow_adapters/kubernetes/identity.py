"""What files say about a connection, and the TLS settings that are made of it. No text of it shows a secret.

Trusts as Go does: any certificate in the bundle is an authority, and those that clusters make for themselves need not
meet the strict profile of RFC 5280 that newer Python versions ask for.
"""

import contextlib
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field


class UnusableError(Exception):
    """Nothing can be connected with it; says why, as a clause without credentials."""


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """What TLS settings are made of."""

    authorities: bytes | None = field(default=None, repr=False)
    """Certificates in PEM; none: those that the system trusts."""
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """The client's certificate chain and its private key, each in PEM; none: show none."""
    verify: bool = True
    """Whether the server must prove who it is."""


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

    def check_replaces(self, last: "Description") -> None:
        """Refuse what a process that runs must not follow.

        Raises:
            UnusableError: it must not.
        """
        if self.server_and_trust != last.server_and_trust:
            # All that is known came from the last server: to believe it of another one could delete everything there.
            change = f"it was for {last.server_and_trust} and is for {self.server_and_trust} now"
        elif self.is_anonymous and not last.is_anonymous:
            # Rather a file that is half written, and well-formed all the same, than what anybody wants.
            change = "it had credentials and has none now"
        else:
            return
        raise UnusableError(f"{self.source}: {change}, which needs a restart")


def tls_context(material: TlsMaterial) -> ssl.SSLContext:
    """The settings of a connection.

    Raises:
        UnusableError: its certificates are no certificates, or do not belong together.
    """
    cadata = None
    if material.authorities is not None:
        # An empty text would come to the authorities that the system trusts.
        cadata = material.authorities.decode("ascii", errors="ignore") or " "
    try:
        context = ssl.create_default_context(cadata=cadata)
    except ssl.SSLError:
        raise UnusableError("the certificate authority is no certificate in PEM") from None
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not material.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if material.certificate is not None:
        chain, key = material.certificate
        try:
            with _in_memory(chain) as chain_file, _in_memory(key) as key_file:
                # Without a password given here OpenSSL would ask for one at the terminal.
                context.load_cert_chain(chain_file, key_file, password="")
        except ssl.SSLError:
            problem = "the client certificate and the client key are no matching pair in PEM"
            raise UnusableError(problem) from None
    return context


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """The path of a file that is on no disk: OpenSSL takes keys from files only, and containers may have no /tmp."""
    with os.fdopen(os.memfd_create("certificate"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
