"""The certificate of a server that gets its pairs from within its process, and what its provisioning awaits.

Expected flow: a `ProvisionedCertificate` has none at first, and handshakes fail; `serve` gives it one, later others.
Guarantees: a pair that cannot be used leaves the last one in use; keys are never written to a disk.
"""

import asyncio
import contextlib
import os
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from hedgerow.admission.provisioning import (
    MakeKeys,
    NewKey,
    Replica,
    ReplicaQuestion,
    ReportRegistered,
    ReportTrust,
    Serve,
)
from hedgerow.machinery.steps import Step
from hedgerow_adapters.admission.certificates import PERIOD, CertificateError, require_certificates, server_context
from hedgerow_adapters.admission.validity import CertificateObserver, Validity, first_expiry
from hedgerow_adapters.kubernetes.credentials import SeenFiles
from hedgerow_adapters.runtime.steps import Perform

LONGEST: Final = 2**15
"""Bytes of a chain or key: a pipe holds as much on every system."""


class ProvisionedCertificate:
    """The certificate that the server shows, and the authorities of its clients."""

    def __init__(
        self, observer: CertificateObserver, *, client_authorities: Path | None = None, period: float = PERIOD
    ) -> None:
        """No pair yet. Without authorities clients need no certificates; raises CertificateError if there are none."""
        self.observer = observer
        self._validity = Validity(observer)
        self._client_authorities = client_authorities
        self._period = period
        self._seen = SeenFiles()
        self._pair: tuple[bytes, bytes] | None = None
        self.distrust: str | None = None
        """Why API servers do not trust the pair; none: they do."""
        self.context = self._context(None)
        """The settings for a connection that is made now."""

    @property
    def served(self) -> bytes | None:
        """The chain that is shown, in PEM; none: there is none yet."""
        return self._pair[0] if self._pair else None

    @property
    def problem(self) -> str | None:
        """Why API servers cannot be answered, or refuse the certificate; none: neither."""
        return self._validity.problem or self.distrust if self._pair else "the serving certificate is not made yet"

    def serve(self, chain: bytes, key: bytes) -> str | None:
        """Show a pair from now on; returns why it cannot be used."""
        try:
            self.context = self._context((chain, key))
        except CertificateError as problem:
            self.observer.certificate_unreadable(str(problem))
            return str(problem)
        self._pair = chain, key
        self._validity.begin(first_expiry(chain))
        return None

    async def watch(self) -> None:
        """Take over new authorities of clients, and tell of a certificate that expires, until cancelled."""
        while True:
            await asyncio.sleep(self._period)
            self._validity.look()
            if self._seen.have_changed():
                try:
                    self.context = self._context(self._pair)
                except CertificateError as problem:  # the last ones stay in use
                    self.observer.certificate_unreadable(str(problem))
                else:
                    if self._pair is not None:
                        self._validity.begin(first_expiry(self._pair[0]))

    def _context(self, pair: tuple[bytes, bytes] | None) -> ssl.SSLContext:
        context = server_context()
        if pair is not None:
            _load(context, *pair)
        if self._client_authorities is not None:
            self._seen = SeenFiles()
            require_certificates(context, self._client_authorities, self._seen)
        return context


def _load(context: ssl.SSLContext, chain: bytes, key: bytes) -> None:
    """Give the settings a pair; Python takes it from files alone, which pipes can pass for."""
    try:
        with _pipe(chain) as certificate_file, _pipe(key) as key_file:
            context.load_cert_chain(certificate_file, key_file, password="")
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise CertificateError("certificate and key cannot be used, or not together") from error


@contextlib.contextmanager
def _pipe(content: bytes) -> Iterator[str]:
    """The path of a file that can be read once, and holds a content."""
    if len(content) > LONGEST:
        raise CertificateError(f"certificate or key are longer than {LONGEST} bytes")
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)


def provisioning_steps(certificate: ProvisionedCertificate, leads: Callable[[], bool]) -> Perform:
    """Performs the steps of provisioning for one server."""

    async def perform(step: Step[Any]) -> Any:
        match step:
            case MakeKeys(count):
                return tuple(_new_key() for _ in range(count))
            case Serve(chain, key):
                return certificate.serve(chain, key)
            case ReportTrust(problem):
                certificate.distrust = problem
                return None
            case ReportRegistered(kind, webhooks):
                certificate.observer.webhooks_registered(kind, webhooks)
                return None
            case ReplicaQuestion():
                return Replica(certificate.served, leads())
            case _:
                raise TypeError(f"provisioning does not perform {type(step).__name__}")

    return perform


def _new_key() -> NewKey:
    return NewKey(ec.generate_private_key(ec.SECP256R1()), x509.random_serial_number())
