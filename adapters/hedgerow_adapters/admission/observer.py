"""What an admission server tells about itself, for logs and metrics.

Every method does nothing here, so that one who listens overrides what is of interest.
"""

from hedgerow.admission import AdmissionRequest, Allowed, Denied, Mutated
from hedgerow_adapters.admission.certificates import CertificateObserver
from hedgerow_adapters.listening import ConnectionObserver


class AdmissionObserver(CertificateObserver, ConnectionObserver):
    """Hears of everything that happens in one admission server, and changes nothing."""

    def began(self, path: str) -> None:
        """A request reached a webhook."""

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request that had begun is answered, with an HTTP status, so many seconds later."""

    def allowed(self, path: str, request: AdmissionRequest, allowed: Allowed | Mutated) -> None:
        """An operation was allowed, as it was or with a changed object."""

    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        """An operation was denied."""

    def unreadable(self, path: str, problem: str) -> None:
        """A request held no review that could be read."""

    def crowded_out(self, path: str, problem: str) -> None:
        """A request was refused because others take the memory."""

    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        """A review ended with a defect; the operation is denied."""
