"""The TLS settings of a connection: whom to trust, and which client certificate to show.

Trusts as Go does: any certificate in the bundle is an authority, and those that clusters make for themselves need not
meet the strict profile of RFC 5280 that newer Python versions ask for.
"""

import contextlib
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field

from returns.result import Failure, Result, Success


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """What TLS settings are made of. No text of it shows a key."""

    authorities: bytes | None = field(default=None, repr=False)
    """Certificates in PEM; none: those that the system trusts."""
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """The client's certificate chain and its private key, each in PEM; none: show none."""
    verify: bool = True
    """Whether the server must prove who it is."""


def tls_context(material: TlsMaterial) -> Result[ssl.SSLContext, str]:
    """The settings of a connection, or what is wrong with its certificates, as a clause."""
    match _trusting(material.authorities):
        case Success(context):
            pass
        case failure:
            return failure
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not material.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return _showing(context, material.certificate)


def _trusting(authorities: bytes | None) -> Result[ssl.SSLContext, str]:
    if authorities is None:
        return Success(ssl.create_default_context())
    text = authorities.decode("ascii", errors="ignore")
    try:
        # An empty text would come to the authorities that the system trusts.
        return Success(ssl.create_default_context(cadata=text or " "))
    except ssl.SSLError:
        return Failure("the certificate authority is no certificate in PEM")


def _showing(context: ssl.SSLContext, certificate: tuple[bytes, bytes] | None) -> Result[ssl.SSLContext, str]:
    if certificate is None:
        return Success(context)
    chain, key = certificate
    try:
        with _in_memory(chain) as chain_file, _in_memory(key) as key_file:
            # Without a password given here OpenSSL would ask for one at the terminal.
            context.load_cert_chain(chain_file, key_file, password="")
    except ssl.SSLError:
        return Failure("the client certificate and the client key are no matching pair in PEM")
    return Success(context)


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """The path of a file that is on no disk: OpenSSL takes keys from files only, and containers may have no /tmp."""
    with os.fdopen(os.memfd_create("certificate"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
