"""What an admission server reports, as metrics and log lines.

Metrics have the names and labels that operators of controller-runtime know; `webhook` is the path. Lines name who is
concerned and never show an object; texts that come from whoever asks are cut. What anybody can provoke by the thousand,
such as connections without TLS, is said once in a while.

Source: webhooks-and-tokens §3.1.
"""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final

from prometheus_client import Counter, Gauge, Histogram
from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Allowed, Denied, Mutated
from hedgerow.admission.webhook import INVALID
from hedgerow_adapters.admission.reviewer import AdmissionObserver
from hedgerow_adapters.telemetry.handshakes import HandshakeFailure, handshake_failure
from hedgerow_adapters.telemetry.logs import Log
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import PlainRegistry, SeriesOf
from hedgerow_adapters.telemetry.troubles import ListenerTelemetry, cut

STATUSES: Final = ("200", "500")
DECISIONS: Final = ("unchanged", "changed", "denied", "undecided")
"""Undecided: denied because the cluster did not tell what a webhook has to know."""
SOON: Final = timedelta(days=7)
"""So long before it expires a serving certificate is an error: whatever renews it should have done so."""
_PREFIX: Final = "controller_runtime_webhook_"


class _WebhookSeries:
    def __init__(self, series: SeriesOf) -> None:
        self.seconds = series(Histogram, f"{_PREFIX}latency_seconds", "How long reviews take.")
        self.in_flight = series(Gauge, f"{_PREFIX}requests_in_flight", "Requests that are being answered.")
        self.requests = series.by(Counter, f"{_PREFIX}requests_total", "Requests, by HTTP status.", "code")
        self.decisions = series.by(
            Counter, "hedgerow_webhook_decisions_total", "Reviews, by what was decided.", "decision"
        )


class _ServerSeries:
    def __init__(self, series: SeriesOf) -> None:
        self.panics = series(Counter, f"{_PREFIX}panics_total", "Reviews that ended with a defect.")
        self.certificates = series(
            Counter, "certwatcher_read_certificate_total", "Attempts to read the server's certificate."
        )
        self.certificate_errors = series(Counter, "certwatcher_read_certificate_errors_total", "Those that failed.")
        self.certificate_unusable = series(
            Gauge, "hedgerow_webhook_certificate_unusable", "1 while the newest certificate cannot be used."
        )
        self.not_after = series(
            Gauge,
            "hedgerow_webhook_certificate_not_after_timestamp_seconds",
            "When the serving certificate expires; 0: there is none yet.",
        )
        self.registered = series.by(
            Gauge,
            "hedgerow_webhooks_registered",
            "Webhooks in a registration that the process fills in, by its kind; none else.",
            "kind",
        )
        handshake_failures = series.by(
            Counter, "hedgerow_webhook_handshake_failures_total", "TLS handshakes that failed, by reason.", "reason"
        )
        self.handshake_failures = {reason: handshake_failures(reason.value) for reason in HandshakeFailure}
        self.closed = series.by(
            Counter,
            "hedgerow_webhook_connections_closed_total",
            "Connections that were not let go on, by reason.",
            "reason",
        )


class WebhookMetrics:
    """The metrics of one admission server, all series of the webhooks at some paths present from the start."""

    def __init__(self, registry: PlainRegistry, paths: Collection[str]) -> None:
        self.server: Final = _ServerSeries(SeriesOf(registry))
        self.at: Final = {path: _WebhookSeries(SeriesOf(registry, webhook=path)) for path in paths}
        for webhook in self.at.values():
            for status in STATUSES:
                webhook.requests(status)
            for decision in DECISIONS:
                webhook.decisions(decision)


class AdmissionTelemetry(ListenerTelemetry, AdmissionObserver):
    """Turns what an admission server reports into metrics and lines."""

    def __init__(self, metrics: WebhookMetrics, log: Log, clock: Callable[[], float]) -> None:
        super().__init__(log, clock, on_closed=lambda reason: metrics.server.closed(reason).inc())
        self._server = metrics.server
        self._at = metrics.at

    @override
    def began(self, path: str) -> None:
        self._at[path].in_flight.inc()

    @override
    def answered(self, path: str, status: int, seconds: float) -> None:
        webhook = self._at[path]
        webhook.in_flight.dec()
        webhook.seconds.observe(seconds)
        webhook.requests(str(status)).inc()

    @override
    def allowed(self, path: str, request: AdmissionRequest, allowed: Allowed | Mutated) -> None:
        if isinstance(allowed, Allowed):
            self._at[path].decisions("unchanged").inc()
            return
        self._at[path].decisions("changed").inc()
        if self._log.is_verbose:
            rules = [mutation.rule for mutation in allowed.mutations]
            self._about(path, request).tell(Message.CHANGED, rules=rules)

    @override
    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        """Say who was denied what and why; of what is invalid the fields, as the message shows what stands in them.

        That the cluster could not be read hits many alike, so it is said once in a while.
        """
        about = self._about(path, request)
        self._at[path].decisions("undecided" if denied.is_undecided else "denied").inc()
        if not denied.is_undecided:
            why = {"fields": _fields(denied)} if denied.code == INVALID else {"error": cut(denied.message)}
            about.bind(**why).tell(Message.DENIED, code=denied.code, reason=cut(denied.reason))
            return
        is_news = self._is_news(("denied", path, denied.message))
        about.tell(Message.UNDECIDED, again=not is_news, error=cut(denied.message))

    @override
    def unreadable(self, path: str, problem: str) -> None:
        self._once(("unreadable", path), Message.UNREADABLE_REVIEW, webhook=path, error=cut(problem))

    @override
    def crowded_out(self, path: str, problem: str) -> None:
        self._once(("crowded out", path), Message.CROWDED_OUT, webhook=path, error=problem)

    @override
    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        self._server.panics.inc()
        self._about(path, request).tell(Message.REVIEW_DEFECT, exc_info=error)

    @override
    def handshake_failed(self, problem: str) -> None:
        super().handshake_failed(problem)
        self._server.handshake_failures[handshake_failure(problem)].inc()

    @override
    def certificate_read(self, not_after: datetime, left: timedelta) -> None:
        self._server.certificates.inc()
        self._server.certificate_unusable.set(0)
        self._server.not_after.set(not_after.timestamp())
        if left <= timedelta(0):
            self.certificate_expired(not_after)
        elif left < SOON:
            self._log.tell(Message.CERTIFICATE_EXPIRES, not_after=not_after.isoformat())
        else:
            self._log.tell(Message.CERTIFICATE_READ, not_after=not_after.isoformat())

    @override
    def certificate_expired(self, not_after: datetime) -> None:
        self._log.tell(Message.CERTIFICATE_EXPIRED, not_after=not_after.isoformat())

    @override
    def webhooks_registered(self, kind: str, webhooks: int) -> None:
        self._server.registered(kind).set(webhooks)

    @override
    def certificate_unreadable(self, problem: str) -> None:
        self._server.certificates.inc()
        self._server.certificate_errors.inc()
        self._server.certificate_unusable.set(1)
        self._log.tell(Message.CERTIFICATE_UNUSABLE, error=problem)

    def _about(self, path: str, request: AdmissionRequest) -> Log:
        """The log of one review, in words that hold nothing of the object but where it is."""
        return self._log.bind(
            webhook=path,
            operation=cut(request.operation),
            resource=cut(request.resource.resource),
            key=cut(str(request.key)),
            uid=cut(request.uid),
        )


def _fields(denied: Denied) -> str:
    causes = (denied.details or {}).get("causes", ())
    return cut(", ".join(dict.fromkeys(cause["field"] for cause in causes)))
