"""Turns what the caches of one reader report into log lines and metrics."""

import time
from collections.abc import Callable
from typing import Final

from structlog.typing import FilteringBoundLogger

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer import Watched
from hedgerow_adapters.telemetry.metrics import ReadingMetrics
from hedgerow_adapters.telemetry.repetition import Repetition
from hedgerow_adapters.telemetry.watching import WatchLines


class ReadingTelemetry:
    """The ears of a reader; an `InformerObserver`."""

    def __init__(
        self,
        log: FilteringBoundLogger,
        metrics: ReadingMetrics,
        *,
        repetition: Repetition | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ears that have heard nothing.

        Args:
            log: says whose caches the lines are about.
            metrics: of the reader.
            repetition: what has been said; none: nothing, by nobody else.
            clock: monotonic seconds.
        """
        self._log: Final = log
        self._metrics: Final = metrics
        self._watches = WatchLines(log, repetition or Repetition(), clock)
        self._silences: dict[Resource, list[Callable[[], float]]] = {}

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Count the end of a list or watch; one that has a problem is worth a line."""
        self._metrics.watch_restarts(str(watched.resource), cause).inc()
        if problem is None:
            self._log.debug("Watch ended", resource=watched.resource, cause=cause)
        else:
            self._watches.interrupted(watched, cause, problem)

    def resumed(self, watched: Watched) -> None:
        """Say so if it was the last one."""
        self._watches.resumed(watched)

    def keeps(self, resource: Resource, silence: Callable[[], float]) -> None:
        """Let a cache's silence be asked for with the other metrics; of several of a resource the longest."""
        silences = self._silences.setdefault(resource, [])
        silences.append(silence)
        self._metrics.cache_sync_age(str(resource)).set_function(lambda: max(each() for each in silences))

    def synced(self, now: float) -> None:
        """The caches are complete, at this Unix time."""
        self._metrics.cache_sync_timestamp.set(now)
        self._log.info("Caches are complete")
