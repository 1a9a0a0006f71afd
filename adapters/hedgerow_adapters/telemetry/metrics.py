"""The metrics of a process, under the names and with the buckets that operators of controller-runtime know.

Each process object has metrics of its own; nothing is registered globally. Series are looked up by label once, and not
with every count.

Source: managed-resources §4.3.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric

from hedgerow.machinery.reported_states import ReportedStates
from hedgerow_adapters.telemetry.object_states import ObjectStates

RESULTS: Final = ("success", "error", "requeue", "requeue_after")
RECONCILE_SECONDS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
    *(10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
CACHE_WAIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
QUEUE_SECONDS: Final = tuple(float(f"1e{exponent}") for exponent in range(-8, 4))
M = TypeVar("M", bound=MetricWrapperBase)


class PlainRegistry(CollectorRegistry):
    """A registry without the series of creation times, which the client library adds to every counter and histogram."""

    def __init__(self) -> None:
        super().__init__()
        self.families: Final[dict[str, Any]] = {}
        """Metrics by their names, of which each is registered once."""

    def collect(self) -> Iterable[Metric]:
        """Every metric as of now."""
        for metric in super().collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


class SeriesOf:
    """Makes the series that have some labels in common."""

    def __init__(self, registry: PlainRegistry, **labels: str) -> None:
        self._registry = registry
        self._labels = labels

    def __call__(self, metric: type[M], name: str, documentation: str, **options: Any) -> M:
        """The only series of a name with these labels, which exists from now on."""
        family = self._family(metric, name, documentation, (), options)
        return family.labels(*self._labels.values()) if self._labels else family

    def by(self, metric: type[M], name: str, documentation: str, *labels: str) -> Callable[..., M]:
        """A function from the values of further labels to their series."""
        family = self._family(metric, name, documentation, labels, {})
        return cache(lambda *values: family.labels(*self._labels.values(), *values))

    def _family(
        self, metric: type[M], name: str, documentation: str, further: tuple[str, ...], options: dict[str, Any]
    ) -> M:
        families, labels = self._registry.families, (*self._labels, *further)
        if name not in families:
            families[name] = metric(name, documentation, labels, registry=self._registry, **options)
        found: M = families[name]
        return found


class ControllerMetrics:
    """What one controller counts."""

    def __init__(self, series: SeriesOf) -> None:
        self.results = series.by(Counter, "controller_runtime_reconcile_total", "Reconciliations.", "result")
        self.errors = series(Counter, "controller_runtime_reconcile_errors_total", "Reconciliations that failed.")
        self.terminal_errors = series(
            Counter,
            "controller_runtime_terminal_reconcile_errors_total",
            "Reconciliations that failed in a way that trying again does not mend.",
        )
        self.panics = series(
            Counter, "controller_runtime_reconcile_panics_total", "Reconciliations that ended with a defect."
        )
        self.seconds = series(
            Histogram,
            "controller_runtime_reconcile_time_seconds",
            "Duration of reconciliations.",
            buckets=RECONCILE_SECONDS,
        )
        self.max_concurrent = series(Gauge, "controller_runtime_max_concurrent_reconciles", "Number of workers.")
        self.active_workers = series(Gauge, "controller_runtime_active_workers", "Number of workers that reconcile.")
        self.deletion_guard_stops = series(
            Counter, "hedgerow_deletion_guard_stops_total", "Plans whose deletions the guard held back."
        )
        self.cache_wait = series(
            Histogram,
            "hedgerow_cache_wait_seconds",
            "How long a key waited until the caches showed what had been written for it; most need not wait.",
            buckets=CACHE_WAIT_SECONDS,
        )
        self.cache_wait_timeouts = series(
            Counter,
            "hedgerow_cache_wait_timeouts_total",
            "Waits that ended before the caches showed what had been written.",
        )
        self.conflicts = series(
            Counter, "hedgerow_write_conflicts_total", "Objects that another client keeps reverting."
        )
        self.slowed_keys = series(
            Gauge, "hedgerow_slowed_keys", "Keys that wait because their objects are fought over."
        )
        self.failing_keys = series(Gauge, "hedgerow_failing_keys", "Keys whose last reconciliation failed.")
        self.rejected_keys = series(
            Gauge, "hedgerow_rejected_keys", "Those of them that no retry helps: their input has to change."
        )
        self.failing_time = series(
            Gauge,
            "hedgerow_failing_seconds",
            "For how long the key has failed that has failed longest, of those that are retried; 0: none fails.",
        )
        self.queue_age = series(
            Gauge, "hedgerow_queue_age_seconds", "How long the oldest key in the queue has waited; 0: none waits."
        )
        self.plan_actions = series.by(Counter, "hedgerow_plan_actions_total", "Actions carried out.", "action")


class ReadingMetrics:
    """What is counted of the caches of one reader."""

    def __init__(self, series: SeriesOf) -> None:
        self.cache_sync_timestamp = series(
            Gauge, "hedgerow_cache_sync_timestamp_seconds", "Unix time when the caches became complete; 0 before."
        )
        self.cache_sync_age = series.by(
            Gauge,
            "hedgerow_cache_sync_age_seconds",
            "How long ago a cache heard from its API server: a list, an event or a bookmark, which comes every minute.",
            "resource",
        )
        self.waiting_for_definition = series.by(
            Gauge,
            "hedgerow_waiting_for_definition",
            "1 while the controller has nothing to do, as the API server does not know the resource; 0 once it does.",
            "resource",
        )
        self.watch_restarts = series.by(
            Counter, "hedgerow_watch_restarts_total", "Lists and watches that ended, by cause.", "resource", "cause"
        )


class QueueMetrics:
    """What the queue of one controller counts."""

    def __init__(self, series: SeriesOf) -> None:
        self.depth = series(Gauge, "workqueue_depth", "Keys that wait.")
        self.adds = series(Counter, "workqueue_adds_total", "Keys put in line.")
        self.queue_duration = series(
            Histogram,
            "workqueue_queue_duration_seconds",
            "How long a key waits before it is worked on.",
            buckets=QUEUE_SECONDS,
        )
        self.work_duration = series(
            Histogram, "workqueue_work_duration_seconds", "How long a key is worked on.", buckets=QUEUE_SECONDS
        )
        self.unfinished_work = series(
            Gauge,
            "workqueue_unfinished_work_seconds",
            "How long all keys in work have been worked on, together; large numbers mean that workers are stuck.",
        )
        self.longest_running = series(
            Gauge, "workqueue_longest_running_processor_seconds", "How long the oldest key in work has been worked on."
        )
        self.retries = series(Counter, "workqueue_retries_total", "Keys put back because they failed.")


class RuntimeMetrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self.registry: Final = PlainRegistry()
        self._object_states: Final = list[ObjectStates]()
        ProcessCollector(registry=self.registry)
        series = SeriesOf(self.registry)
        self._requests = series.by(
            Counter,
            "rest_client_requests_total",
            "Number of HTTP requests, partitioned by status code, method, and host.",
            "code",
            "method",
            "host",
        )
        self._leader = series.by(
            Gauge,
            "leader_election_master_status",
            "Whether this process holds the lease of that name: 1 if it does, 0 if it does not.",
            "name",
        )

    def controller(self, name: str, workers: int) -> ControllerMetrics:
        """The metrics of a controller with so many workers, all series present from the start."""
        metrics = ControllerMetrics(SeriesOf(self.registry, controller=name))
        self.reading(name)
        metrics.max_concurrent.set(workers)
        for result in RESULTS:
            metrics.results(result)
        return metrics

    def reading(self, name: str) -> ReadingMetrics:
        """The metrics of the caches of a controller, or of another reader under the same label."""
        return ReadingMetrics(SeriesOf(self.registry, controller=name))

    def queue(self, name: str) -> QueueMetrics:
        """The metrics of a controller's queue, all series present from the start."""
        return QueueMetrics(SeriesOf(self.registry, name=name, controller=name))

    def object_states(self, reported: ReportedStates) -> ObjectStates:
        """The states of the primary objects of a controller, of which there are none yet."""
        self._object_states.append(states := ObjectStates(reported))
        return states

    def request_sent(self, code: str, method: str, host: str) -> None:
        """Count an exchange with an API server; the code is its status, or `<error>` where no answer came."""
        self._requests(code, method, host).inc()

    def leads(self, lease_name: str, *, is_leading: bool) -> None:
        """Note whether this process holds a lease."""
        self._leader(lease_name).set(is_leading)

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus, version 0.0.4."""
        states = "".join(each.exposition() for each in self._object_states)
        return generate_latest(self.registry) + states.encode()
