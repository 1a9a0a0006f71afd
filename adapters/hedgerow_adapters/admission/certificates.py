"""The certificate of a server and the authorities of its clients, read from files and again when these change.

Expected flow: a `Certificates` reads the files once; `watch` in a task then keeps `context` the newest that could be
read. Guarantees: `context` always holds a certificate with its own key, both from one moment; connections that are open
keep what they have. Caveats: files that cannot be read are reported once and read again when one changes. A
certificate that has expired is shown all the same: its clients decide.

Where there are authorities, a handshake fails with a certificate that none of them has signed and succeeds without any:
so the server can still find out whether it is reachable. `listening` refuses each request of a client without one.

Sources: webhooks-and-tokens §2.1, §3.1; Kubernetes documentation, "Secrets" (how mounted ones are replaced).
"""

import asyncio
import contextlib
import os
import ssl
from datetime import datetime
from pathlib import Path
from typing import Final

from hedgerow_adapters.admission.validity import CertificateObserver, Validity, first_expiry
from hedgerow_adapters.kubernetes.credentials import SeenFiles

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
PERIOD: Final = 1.0
"""Seconds between looks at the files."""
_ATTEMPTS: Final = 5
"""Reads of a pair whose files are replaced between one and the other."""


def default_folder() -> Path:
    """The reference's default, in the folder for temporary files; `tempfile` would try to write there."""
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 -- nothing is made there
    return Path(temporary, "k8s-webhook-server", "serving-certs")


class CertificateError(Exception):
    """There is no usable pair in a folder, or no authority in a file; the text is one clause that names it."""


class Certificates:
    """The certificate that the server shows, and the authorities of its clients."""

    def __init__(
        self,
        folder: Path,
        observer: CertificateObserver,
        *,
        client_authorities: Path | None = None,
        period: float = PERIOD,
    ) -> None:
        """Read a folder's pair, or raise CertificateError; without authorities clients need no certificates."""
        self._folder = folder
        self._client_authorities = client_authorities
        self._period = period
        self._observer = observer
        self._validity = Validity(observer)
        self._seen = SeenFiles()
        self.context = self._read_pair()
        """The settings for a connection that is made now."""

    @property
    def problem(self) -> str | None:
        """Why API servers refuse the certificate; none: they need not."""
        return self._validity.problem

    async def watch(self) -> None:
        """Take over every new pair, and tell of one that expires, until cancelled."""
        while True:
            await asyncio.sleep(self._period)
            self._validity.look()
            if self._seen.have_changed():
                with contextlib.suppress(CertificateError):  # the observer knows, and the last pair stays in use
                    self.context = self._read_pair()

    def _read_pair(self) -> ssl.SSLContext:
        """The pair. If its files were replaced between two reads, they do not fit together and are read again."""
        attempts = 1
        while True:
            self._seen = SeenFiles()
            try:
                context, not_after = self._pair()
            except CertificateError as problem:
                if attempts <= _ATTEMPTS and self._seen.have_changed():
                    attempts += 1
                    continue
                self._observer.certificate_unreadable(str(problem))
                raise
            self._validity.begin(not_after)
            return context

    def _pair(self) -> tuple[ssl.SSLContext, datetime]:
        """The settings with the pair, and when it expires."""
        certificate, key = (self._folder / name for name in (CERTIFICATE, KEY))
        chain, _ = (self._read(path) for path in (certificate, key))
        context = server_context()
        try:
            # Without a password given here OpenSSL would ask for one at the terminal.
            context.load_cert_chain(certificate, key, password="")
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            mismatch = getattr(error, "reason", None) == "KEY_VALUES_MISMATCH"
            problem = "do not belong together" if mismatch else "are no certificate and key in PEM"
            raise CertificateError(f"{CERTIFICATE} and {KEY} in {self._folder} {problem}") from error
        if self._client_authorities is not None:
            require_certificates(context, self._client_authorities, self._seen)
        return context, first_expiry(chain)

    def _read(self, path: Path) -> bytes:
        return read_file(path, self._seen)


def read_file(path: Path, seen: SeenFiles) -> bytes:
    """What a file holds, or CertificateError."""
    try:
        return seen.read(path)
    except OSError as error:
        raise CertificateError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error


def require_certificates(context: ssl.SSLContext, authorities: Path, seen: SeenFiles) -> None:
    """Trust as Go does: any certificate in the file is an authority, also one that is not a root."""
    try:
        context.load_verify_locations(cadata=read_file(authorities, seen).decode("ascii", errors="ignore"))
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise CertificateError(f"{authorities} holds no certificate in PEM") from error
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_mode = ssl.CERT_OPTIONAL


def server_context() -> ssl.SSLContext:
    """TLS 1.2 or newer without renegotiation; HTTP/1.1 alone, so that API servers spread their requests."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_alpn_protocols(["http/1.1"])
    return context
