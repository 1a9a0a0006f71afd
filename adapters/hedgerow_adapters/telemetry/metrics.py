"""The metrics of a process, under the names and with the buckets that operators of controller-runtime know.

Each process object has metrics of its own; nothing is registered globally. What a controller and its queue count is
looked up by label once, when it is made, and not with every count.

Source: managed-resources §4.3.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

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
        self._controllers = _ControllerFamilies(self.registry)
        self._queues = _QueueFamilies(self.registry)
        self._requests = Counter(
            "rest_client_requests_total",
            "Number of HTTP requests, partitioned by status code, method, and host.",
            ("code", "method", "host"),
            registry=self.registry,
        )
        self._request_children: dict[tuple[str, str, str], Counter] = {}
        self._leader = Gauge(
            "leader_election_master_status",
            "Whether this process holds the lease of that name: 1 if it does, 0 if it does not.",
            ("name",),
            registry=self.registry,
        )

    def controller(self, name: str, workers: int) -> ControllerMetrics:
        """The metrics of a controller with so many workers, all series present from the start."""
        return self._controllers.of(name, workers)

    def reading(self, name: str) -> ReadingMetrics:
        """The metrics of the caches of a reader that is no controller, which stands under the label of controllers."""
        return self._controllers.reading(name)

    def queue(self, name: str) -> QueueMetrics:
        """The metrics of a controller's queue, all series present from the start."""
        return self._queues.of(name)

    def request_sent(self, code: str, method: str, host: str) -> None:
        """Count an exchange with an API server; the code is its status, or `<error>` where no answer came."""
        labels = (code, method, host)
        if labels not in self._request_children:
            self._request_children[labels] = self._requests.labels(*labels)
        self._request_children[labels].inc()

    def leads(self, lease_name: str, *, is_leading: bool) -> None:
        """Note whether this process holds a lease."""
        self._leader.labels(lease_name).set(is_leading)

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus, version 0.0.4."""
        return generate_latest(self.registry)


class _ControllerFamilies:
    """The metrics of all controllers, by the label `controller`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by_controller = ("controller",)
        prefix = "controller_runtime_"
        self.results = Counter(
            f"{prefix}reconcile_total", "Reconciliations.", ("controller", "result"), registry=registry
        )
        self.errors = Counter(
            f"{prefix}reconcile_errors_total", "Reconciliations that failed.", by_controller, registry=registry
        )
        self.terminal_errors = Counter(
            f"{prefix}terminal_reconcile_errors_total",
            "Reconciliations that failed in a way that trying again does not mend.",
            by_controller,
            registry=registry,
        )
        self.panics = Counter(
            f"{prefix}reconcile_panics_total",
            "Reconciliations that ended with a defect.",
            by_controller,
            registry=registry,
        )
        self.seconds = Histogram(
            f"{prefix}reconcile_time_seconds",
            "Duration of reconciliations.",
            by_controller,
            buckets=RECONCILE_SECONDS,
            registry=registry,
        )
        self.max_concurrent = Gauge(
            f"{prefix}max_concurrent_reconciles", "Number of workers.", by_controller, registry=registry
        )
        self.active_workers = Gauge(
            f"{prefix}active_workers", "Number of workers that reconcile.", by_controller, registry=registry
        )
        self.deletion_guard_stops = Counter(
            "hedgerow_deletion_guard_stops_total",
            "Plans whose deletions the guard held back.",
            by_controller,
            registry=registry,
        )
        self.cache_sync_timestamp = Gauge(
            "hedgerow_cache_sync_timestamp_seconds",
            "Unix time when the caches became complete; 0 before.",
            by_controller,
            registry=registry,
        )
        self.cache_sync_age = Gauge(
            "hedgerow_cache_sync_age_seconds",
            "How long ago a cache heard from its API server: a list, an event or a bookmark, which comes every minute.",
            ("controller", "resource"),
            registry=registry,
        )
        self.cache_wait = Histogram(
            "hedgerow_cache_wait_seconds",
            "How long a key waited until the caches showed what had been written for it; most need not wait.",
            by_controller,
            buckets=CACHE_WAIT_SECONDS,
            registry=registry,
        )
        self.cache_wait_timeouts = Counter(
            "hedgerow_cache_wait_timeouts_total",
            "Waits that ended before the caches showed what had been written.",
            by_controller,
            registry=registry,
        )
        self.conflicts = Counter(
            "hedgerow_write_conflicts_total",
            "Objects that another client keeps reverting.",
            by_controller,
            registry=registry,
        )
        self.slowed_keys = Gauge(
            "hedgerow_slowed_keys",
            "Keys that wait because their objects are fought over.",
            by_controller,
            registry=registry,
        )
        self.watch_restarts = Counter(
            "hedgerow_watch_restarts_total",
            "Lists and watches that ended, by cause.",
            ("controller", "resource", "cause"),
            registry=registry,
        )
        self.plan_actions = Counter(
            "hedgerow_plan_actions_total", "Actions carried out.", ("controller", "action"), registry=registry
        )

    def reading(self, name: str) -> ReadingMetrics:
        """The series of the caches of one reader."""
        return ReadingMetrics(
            cache_sync_timestamp=self.cache_sync_timestamp.labels(name),
            cache_sync_age=lambda resource: self.cache_sync_age.labels(name, resource),
            watch_restarts=lambda resource, cause: self.watch_restarts.labels(name, resource, cause),
        )

    def of(self, name: str, workers: int) -> ControllerMetrics:
        """The series of one controller."""
        self.max_concurrent.labels(name).set(workers)
        return ControllerMetrics(
            reading=self.reading(name),
            results={result: self.results.labels(name, result) for result in RESULTS},
            errors=self.errors.labels(name),
            terminal_errors=self.terminal_errors.labels(name),
            panics=self.panics.labels(name),
            seconds=self.seconds.labels(name),
            max_concurrent=self.max_concurrent.labels(name),
            active_workers=self.active_workers.labels(name),
            deletion_guard_stops=self.deletion_guard_stops.labels(name),
            cache_wait=self.cache_wait.labels(name),
            cache_wait_timeouts=self.cache_wait_timeouts.labels(name),
            conflicts=self.conflicts.labels(name),
            slowed_keys=self.slowed_keys.labels(name),
            plan_actions=lambda action: self.plan_actions.labels(name, action),
        )


class _QueueFamilies:
    """The metrics of all queues, by the labels `name` and `controller`, which hold the same."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("name", "controller")
        self.depth = Gauge("workqueue_depth", "Keys that wait.", labels, registry=registry)
        self.adds = Counter("workqueue_adds_total", "Keys put in line.", labels, registry=registry)
        self.queue_duration = Histogram(
            "workqueue_queue_duration_seconds",
            "How long a key waits before it is worked on.",
            labels,
            buckets=QUEUE_SECONDS,
            registry=registry,
        )
        self.work_duration = Histogram(
            "workqueue_work_duration_seconds",
            "How long a key is worked on.",
            labels,
            buckets=QUEUE_SECONDS,
            registry=registry,
        )
        self.unfinished_work = Gauge(
            "workqueue_unfinished_work_seconds",
            "How long all keys in work have been worked on, together; large numbers mean that workers are stuck.",
            labels,
            registry=registry,
        )
        self.longest_running = Gauge(
            "workqueue_longest_running_processor_seconds",
            "How long the oldest key in work has been worked on.",
            labels,
            registry=registry,
        )
        self.retries = Counter(
            "workqueue_retries_total", "Keys put back because they failed.", labels, registry=registry
        )

    def of(self, name: str) -> QueueMetrics:
        """The series of one queue."""
        return QueueMetrics(
            depth=self.depth.labels(name, name),
            adds=self.adds.labels(name, name),
            queue_duration=self.queue_duration.labels(name, name),
            work_duration=self.work_duration.labels(name, name),
            unfinished_work=self.unfinished_work.labels(name, name),
            longest_running=self.longest_running.labels(name, name),
            retries=self.retries.labels(name, name),
        )
