"""Until when the serving certificate is valid, and who hears of it.

Expected flow: `begin` with each certificate that is used from now on, `look` now and then. Guarantees: the observer
hears of each certificate once when it is read, and once when it expires while in use.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509

from hedgerow_adapters.clock import utc_now

NEVER: Final = datetime.max.replace(tzinfo=UTC)


class CertificateObserver:
    """Hears of pairs that are read, and changes nothing."""

    def certificate_read(self, not_after: datetime, left: timedelta) -> None:
        """A pair was read and is used from now on; it expires in the time that is `left`, or has expired."""

    def certificate_unreadable(self, problem: str) -> None:
        """A pair could not be read; the one before, if any, stays in use."""

    def certificate_expired(self, not_after: datetime) -> None:
        """The pair in use has expired: API servers refuse it from now on."""

    def webhooks_registered(self, kind: str, webhooks: int) -> None:
        """So many webhooks does a registration of a kind have that the process fills in."""


class Validity:
    """The validity of the certificate that is used now."""

    def __init__(self, observer: CertificateObserver, now: Callable[[], datetime] = utc_now) -> None:
        """No certificate is used yet."""
        self._observer = observer
        self._now = now
        self._not_after: datetime | None = None
        self._is_told = False

    def begin(self, not_after: datetime) -> None:
        """Note that a certificate is used from now on."""
        left = not_after - self._now()
        self._not_after, self._is_told = not_after, left <= timedelta(0)
        self._observer.certificate_read(not_after, left)

    def look(self) -> None:
        """Tell the observer if the certificate has expired since it was read."""
        if self._not_after is not None and not self._is_told and self._now() >= self._not_after:
            self._is_told = True
            self._observer.certificate_expired(self._not_after)

    @property
    def problem(self) -> str | None:
        """Why API servers refuse the certificate; none: they need not."""
        if self._not_after is None or self._now() < self._not_after:
            return None
        return f"the serving certificate has expired at {self._not_after:%Y-%m-%dT%H:%M:%SZ}"


def first_expiry(chain: bytes) -> datetime:
    """When the first certificate of a chain in PEM expires.

    `NEVER` where one cannot be read: OpenSSL takes more than this library does, and then API servers may, too.
    """
    try:
        certificates = x509.load_pem_x509_certificates(chain)
    except ValueError:
        return NEVER
    return min(each.not_valid_after_utc for each in certificates)
