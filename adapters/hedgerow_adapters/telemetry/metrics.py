"""The metrics of a process, under the names and with the buckets that operators of controller-runtime know.

Each process object has metrics of its own; nothing is registered globally. What a controller and its queue count is
looked up by label once, when it is made, and not with every count.

Source: managed-resources §4.3.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric

RESULTS: Final = ("success", "error", "requeue", "requeue_after")
RECONCILE_SECONDS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
    *(10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
CACHE_WAIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
QUEUE_SECONDS: Final = tuple(float(f"1e{exponent}") for exponent in range(-8, 4))


class PlainRegistry(CollectorRegistry):
    """A registry without the series of creation times, which the client library adds to every counter and histogram."""

    def collect(self) -> Iterable[Metric]:
        """Every metric as of now."""
        for metric in super().collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


class Family(NamedTuple):
    """Series of one name."""

    metric: type[Counter | Gauge | Histogram]
    name: str
    documentation: str
    labels: tuple[str, ...] = ()
    """Those beside the labels that all families of a table have."""
    buckets: tuple[float, ...] = Histogram.DEFAULT_BUCKETS


def registered(families: Mapping[str, Family], labels: tuple[str, ...], registry: CollectorRegistry) -> dict[str, Any]:
    """The metrics of a table of families that have some labels in common, by the keys of the table."""
    metrics = {}
    for field, (metric, name, documentation, others, buckets) in families.items():
        options: dict[str, Any] = {"buckets": buckets} if metric is Histogram else {}
        metrics[field] = metric(name, documentation, (*labels, *others), registry=registry, **options)
    return metrics


_OF_CONTROLLERS: Final = {
    "results": Family(Counter, "controller_runtime_reconcile_total", "Reconciliations.", ("result",)),
    "errors": Family(Counter, "controller_runtime_reconcile_errors_total", "Reconciliations that failed."),
    "terminal_errors": Family(
        Counter,
        "controller_runtime_terminal_reconcile_errors_total",
        "Reconciliations that failed in a way that trying again does not mend.",
    ),
    "panics": Family(Counter, "controller_runtime_reconcile_panics_total", "Reconciliations that ended with a defect."),
    "seconds": Family(
        Histogram, "controller_runtime_reconcile_time_seconds", "Duration of reconciliations.", (), RECONCILE_SECONDS
    ),
    "max_concurrent": Family(Gauge, "controller_runtime_max_concurrent_reconciles", "Number of workers."),
    "active_workers": Family(Gauge, "controller_runtime_active_workers", "Number of workers that reconcile."),
    "deletion_guard_stops": Family(
        Counter, "hedgerow_deletion_guard_stops_total", "Plans whose deletions the guard held back."
    ),
    "cache_wait": Family(
        Histogram,
        "hedgerow_cache_wait_seconds",
        "How long a key waited until the caches showed what had been written for it; most need not wait.",
        (),
        CACHE_WAIT_SECONDS,
    ),
    "cache_wait_timeouts": Family(
        Counter,
        "hedgerow_cache_wait_timeouts_total",
        "Waits that ended before the caches showed what had been written.",
    ),
    "conflicts": Family(Counter, "hedgerow_write_conflicts_total", "Objects that another client keeps reverting."),
    "slowed_keys": Family(Gauge, "hedgerow_slowed_keys", "Keys that wait because their objects are fought over."),
    "plan_actions": Family(Counter, "hedgerow_plan_actions_total", "Actions carried out.", ("action",)),
}
_OF_READERS: Final = {
    "cache_sync_timestamp": Family(
        Gauge,
        "hedgerow_cache_sync_timestamp_seconds",
        "Unix time when the caches became complete; 0 before.",
    ),
    "cache_sync_age": Family(
        Gauge,
        "hedgerow_cache_sync_age_seconds",
        "How long ago a cache heard from its API server: a list, an event or a bookmark, which comes every minute.",
        ("resource",),
    ),
    "watch_restarts": Family(
        Counter, "hedgerow_watch_restarts_total", "Lists and watches that ended, by cause.", ("resource", "cause")
    ),
}
_OF_QUEUES: Final = {
    "depth": Family(Gauge, "workqueue_depth", "Keys that wait."),
    "adds": Family(Counter, "workqueue_adds_total", "Keys put in line."),
    "queue_duration": Family(
        Histogram,
        "workqueue_queue_duration_seconds",
        "How long a key waits before it is worked on.",
        (),
        QUEUE_SECONDS,
    ),
    "work_duration": Family(
        Histogram, "workqueue_work_duration_seconds", "How long a key is worked on.", (), QUEUE_SECONDS
    ),
    "unfinished_work": Family(
        Gauge,
        "workqueue_unfinished_work_seconds",
        "How long all keys in work have been worked on, together; large numbers mean that workers are stuck.",
    ),
    "longest_running": Family(
        Gauge,
        "workqueue_longest_running_processor_seconds",
        "How long the oldest key in work has been worked on.",
    ),
    "retries": Family(Counter, "workqueue_retries_total", "Keys put back because they failed."),
}
_OF_PROCESS: Final = {
    "requests": Family(
        Counter,
        "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code, method, and host.",
        ("code", "method", "host"),
    ),
    "leader": Family(
        Gauge,
        "leader_election_master_status",
        "Whether this process holds the lease of that name: 1 if it does, 0 if it does not.",
        ("name",),
    ),
}


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """What the queue of one controller counts."""

    depth: Gauge
    adds: Counter
    queue_duration: Histogram
    """Seconds that a key waited."""
    work_duration: Histogram
    """Seconds that a key was worked on."""
    unfinished_work: Gauge
    """Seconds that all keys in work have taken so far, together."""
    longest_running: Gauge
    """Seconds that the oldest key in work has taken so far."""
    retries: Counter


@dataclass(frozen=True, slots=True)
class ReadingMetrics:
    """What is counted of the caches of one reader."""

    cache_sync_timestamp: Gauge
    """Unix time when the caches became complete."""
    cache_sync_age: Callable[[str], Gauge]
    """By resource."""
    watch_restarts: Callable[[str, str], Counter]
    """By resource and cause."""


@dataclass(frozen=True, slots=True)
class ControllerMetrics:
    """What one controller counts."""

    reading: ReadingMetrics

    results: Mapping[str, Counter]
    """Reconciliations by their result, one of `RESULTS`."""
    errors: Counter
    terminal_errors: Counter
    """Errors that trying again does not mend."""
    panics: Counter
    seconds: Histogram
    max_concurrent: Gauge
    active_workers: Gauge
    deletion_guard_stops: Counter
    cache_wait: Histogram
    """Seconds for which keys waited until the caches showed what was written for them."""
    cache_wait_timeouts: Counter
    """Waits that ended without that."""
    conflicts: Counter
    slowed_keys: Gauge
    plan_actions: Callable[[str], Counter]
    """Actions carried out, by their kind."""


class RuntimeMetrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self.registry: Final = PlainRegistry()
        ProcessCollector(registry=self.registry)
        self._of_controllers = registered(_OF_CONTROLLERS, ("controller",), self.registry)
        self._of_readers = registered(_OF_READERS, ("controller",), self.registry)
        self._of_queues = registered(_OF_QUEUES, ("name", "controller"), self.registry)
        self._of_process = registered(_OF_PROCESS, (), self.registry)
        self._request_children: dict[tuple[str, str, str], Counter] = {}

    def controller(self, name: str, workers: int) -> ControllerMetrics:
        """The metrics of a controller with so many workers, all series present from the start."""
        families = self._of_controllers
        families["max_concurrent"].labels(name).set(workers)
        return ControllerMetrics(
            reading=self.reading(name),
            results={result: families["results"].labels(name, result) for result in RESULTS},
            plan_actions=lambda action: families["plan_actions"].labels(name, action),
            **{field: families[field].labels(name) for field, family in _OF_CONTROLLERS.items() if not family.labels},
        )

    def reading(self, name: str) -> ReadingMetrics:
        """The metrics of the caches of a reader that is no controller, which stands under the label of controllers."""
        families = self._of_readers
        return ReadingMetrics(
            cache_sync_timestamp=families["cache_sync_timestamp"].labels(name),
            cache_sync_age=lambda resource: families["cache_sync_age"].labels(name, resource),
            watch_restarts=lambda resource, cause: families["watch_restarts"].labels(name, resource, cause),
        )

    def queue(self, name: str) -> QueueMetrics:
        """The metrics of a controller's queue, all series present from the start."""
        return QueueMetrics(**{field: family.labels(name, name) for field, family in self._of_queues.items()})

    def request_sent(self, code: str, method: str, host: str) -> None:
        """Count an exchange with an API server; the code is its status, or `<error>` where no answer came."""
        labels = (code, method, host)
        if labels not in self._request_children:
            self._request_children[labels] = self._of_process["requests"].labels(*labels)
        self._request_children[labels].inc()

    def leads(self, lease_name: str, *, is_leading: bool) -> None:
        """Note whether this process holds a lease."""
        self._of_process["leader"].labels(lease_name).set(is_leading)

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus, version 0.0.4."""
        return generate_latest(self.registry)
