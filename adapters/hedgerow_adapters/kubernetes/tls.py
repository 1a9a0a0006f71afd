"""The TLS settings of a connection: whom to trust, and which client certificate to show.

Trusts as Go does: any certificate in the bundle is an authority, and those that clusters make for themselves need not
meet the strict profile of RFC 5280 that newer Python versions ask for.
"""

import contextlib
import os
import ssl
from collections.abc import Iterator
from pathlib import Path

from returns.result import Failure, Result, Success


def tls_context(
    *, authorities: bytes | Path | None, certificate: tuple[bytes, bytes] | None, verify: bool
) -> Result[ssl.SSLContext, str]:
    """The settings of a connection, or what is wrong with its certificates, as a clause.

    Args:
        authorities: certificates in PEM, or the file that holds them; none: those that the system trusts.
        certificate: the client's certificate chain and its private key, each in PEM; none: show none.
        verify: whether the server must prove who it is.
    """
    match _trusting(authorities):
        case Success(context):
            pass
        case failure:
            return failure
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return _showing(context, certificate)


def _trusting(authorities: bytes | Path | None) -> Result[ssl.SSLContext, str]:
    if authorities is None:
        return Success(ssl.create_default_context())
    try:
        pem = authorities.read_bytes() if isinstance(authorities, Path) else authorities
        return Success(ssl.create_default_context(cadata=pem.decode("ascii", errors="ignore")))
    except ssl.SSLError:
        return Failure("the certificate authority is no certificate in PEM")
    except OSError as error:
        return Failure(f"cannot read certificate authority {error.filename}: {error.strerror}")


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
