"""What an admission server reports, as metrics and log lines.

Metrics have the names and labels that operators of controller-runtime know; `webhook` is the path. Lines name who is
concerned and never show an object; texts that come from whoever asks are cut. What anybody can provoke by the thousand,
such as connections without TLS, is said once in a while.

Source: webhooks-and-tokens §3.1.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Allowed, Denied, Mutated
from hedgerow.admission.decision import INVALID
from hedgerow_adapters.admission import AdmissionObserver
from hedgerow_adapters.telemetry.listening import ListenerTelemetry, cut
from hedgerow_adapters.telemetry.metrics import Family, registered

OK: Final = "200"
FAILED: Final = "500"
DECISIONS: Final = ("unchanged", "changed", "denied", "undecided")
"""Undecided: denied because the cluster did not tell what a webhook has to know."""


_PREFIX: Final = "controller_runtime_webhook_"
_FAMILIES: Final = {
    "seconds": Family(Histogram, f"{_PREFIX}latency_seconds", "How long reviews take.", ("webhook",)),
    "requests": Family(Counter, f"{_PREFIX}requests_total", "Requests, by HTTP status.", ("webhook", "code")),
    "in_flight": Family(Gauge, f"{_PREFIX}requests_in_flight", "Requests that are being answered.", ("webhook",)),
    "decisions": Family(
        Counter, "hedgerow_webhook_decisions_total", "Reviews, by what was decided.", ("webhook", "decision")
    ),
    "panics": Family(Counter, f"{_PREFIX}panics_total", "Reviews that ended with a defect."),
    "certificates": Family(Counter, "certwatcher_read_certificate_total", "Attempts to read the server's certificate."),
    "certificate_errors": Family(Counter, "certwatcher_read_certificate_errors_total", "Those that failed."),
    "closed": Family(
        Counter,
        "hedgerow_webhook_connections_closed_total",
        "Connections that were not let go on, by reason.",
        ("reason",),
    ),
}


@dataclass(frozen=True, slots=True)
class _Series:
    """What is counted of one webhook, looked up by label once."""

    seconds: Histogram
    in_flight: Gauge
    requests: dict[int, Counter]
    decisions: Mapping[str, Counter]


class WebhookMetrics:
    """The metrics of one admission server."""

    def __init__(self, registry: CollectorRegistry, paths: Collection[str]) -> None:
        """Metrics with all series of the webhooks at some paths present from the start."""
        families = registered(_FAMILIES, (), registry)
        self._requests, self._in_flight = families["requests"], families["in_flight"]
        self._seconds, self._decisions = families["seconds"], families["decisions"]
        self.panics: Final[Counter] = families["panics"]
        self.certificates: Final[Counter] = families["certificates"]
        self.certificate_errors: Final[Counter] = families["certificate_errors"]
        self.closed: Final[Counter] = families["closed"]
        self._series = {path: self._series_of(path) for path in paths}

    def began(self, path: str) -> None:
        """Count a request that has arrived."""
        self._series[path].in_flight.inc()

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        series = self._series[path]
        series.in_flight.dec()
        series.seconds.observe(seconds)
        if status not in series.requests:
            series.requests[status] = self._requests.labels(path, str(status))
        series.requests[status].inc()

    def decided(self, path: str, decision: str) -> None:
        """Count a decision."""
        self._series[path].decisions[decision].inc()

    def _series_of(self, path: str) -> _Series:
        decisions = {decision: self._decisions.labels(path, decision) for decision in DECISIONS}
        requests = {int(code): self._requests.labels(path, code) for code in (OK, FAILED)}
        return _Series(self._seconds.labels(path), self._in_flight.labels(path), requests, decisions)


class AdmissionTelemetry(ListenerTelemetry, AdmissionObserver):
    """Turns what an admission server reports into metrics and lines."""

    def __init__(self, metrics: WebhookMetrics, log: FilteringBoundLogger, clock: Callable[[], float]) -> None:
        """Telemetry of one server.

        Args:
            metrics: of that server.
            log: where lines go.
            clock: monotonic, in seconds.
        """
        super().__init__(log, clock, on_closed=lambda reason: metrics.closed.labels(reason).inc())
        self._metrics = metrics

    @override
    def began(self, path: str) -> None:
        self._metrics.began(path)

    @override
    def answered(self, path: str, status: int, seconds: float) -> None:
        self._metrics.answered(path, status, seconds)

    @override
    def allowed(self, path: str, request: AdmissionRequest, allowed: Allowed | Mutated) -> None:
        if isinstance(allowed, Allowed):
            self._metrics.decided(path, "unchanged")
            return
        self._metrics.decided(path, "changed")
        self._log.debug("Changed", rules=[mutation.rule for mutation in allowed.mutations], **_about(path, request))

    @override
    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        """Say who was denied what and why; of what is invalid the fields, as the message shows what stands in them.

        That the cluster could not be read hits many alike, so it is said once in a while.
        """
        about = _about(path, request)
        self._metrics.decided(path, "undecided" if denied.is_undecided else "denied")
        if not denied.is_undecided:
            why = {"fields": _fields(denied)} if denied.code == INVALID else {"error": cut(denied.message)}
            self._log.info("Denied", code=denied.code, reason=cut(denied.reason), **why, **about)
            return
        tell = self._log.error if self._is_news("denied", path, denied.message) else self._log.debug
        tell("Could not decide", error=cut(denied.message), **about)

    @override
    def unreadable(self, path: str, problem: str) -> None:
        tell = self._log.warning if self._is_news("unreadable", path) else self._log.debug
        tell("Could not read a review", webhook=path, error=cut(problem))

    @override
    def crowded_out(self, path: str, problem: str) -> None:
        tell = self._log.warning if self._is_news("crowded out", path) else self._log.debug
        tell("Too many reviews at once, refused with 429", webhook=path, error=problem)

    @override
    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        """Count a defect, and show it with its traceback."""
        self._metrics.panics.inc()
        self._log.error("Review ended with a defect", exc_info=error, **_about(path, request))

    @override
    def certificate_read(self) -> None:
        self._metrics.certificates.inc()
        self._log.info("Serving certificate read")

    @override
    def certificate_unreadable(self, problem: str) -> None:
        self._metrics.certificates.inc()
        self._metrics.certificate_errors.inc()
        self._log.error("Cannot use the serving certificate", error=problem)


def _fields(denied: Denied) -> str:
    """The fields that are invalid, each once."""
    causes = (denied.details or {}).get("causes", ())
    return cut(", ".join(dict.fromkeys(cause["field"] for cause in causes)))


def _about(path: str, request: AdmissionRequest) -> dict[str, object]:
    """Who is concerned, in words that hold nothing of the object but where it is."""
    return {
        "webhook": path,
        "operation": cut(request.operation),
        "resource": cut(request.resource.resource),
        "key": cut(str(request.key)),
        "uid": cut(request.uid),
    }
