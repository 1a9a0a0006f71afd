"""Turns what the caches of one reader report into log lines and metrics."""

import time
from collections.abc import Callable, Hashable
from typing import Final

from structlog.typing import FilteringBoundLogger

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer import Watched
from hedgerow_adapters.telemetry.logs import Repetition
from hedgerow_adapters.telemetry.metrics import ReadingMetrics

TRANSIENT: Final = 3.0
"""Seconds for which nobody has to worry about what mends itself."""
_MENDS_ITSELF: Final = frozenset({"forbidden", "expired"})
"""An API server that has just started does not know its roles yet; what it has forgotten a list brings at once."""
_COMMON: Final = frozenset({"disconnected", "expired"})
"""Causes that say nothing about the resource whose watch they end: a line about one speaks for all."""


class ReadingTelemetry:
    """The ears of a reader; an `InformerObserver`.

    One line says that lists and watches fail together, and one that all of them work again. Each attempt of each watch
    shows at level `debug`.
    """

    def __init__(
        self,
        log: FilteringBoundLogger,
        metrics: ReadingMetrics,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
    ) -> None:
        """Nothing heard yet; `log` says whose caches the lines are about."""
        self._log: Final = log
        self._cache_metrics: Final = metrics
        self._repetition = Repetition()
        self._clock = clock
        self._unix_time = unix_time
        self._concerned: dict[Hashable, dict[Watched, float]] = {}
        """Which watches are in some trouble, and since when."""
        self._owes_the_end = False
        self._silences: dict[Resource, list[Callable[[], float]]] = {}

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Count the end of a list or watch; one that has a problem is worth a line.

        Unless it is said already, or may still be mended by another try.
        """
        self._cache_metrics.watch_restarts(str(watched.resource), cause).inc()
        if problem is None:
            self._log.debug("Watch ended", resource=watched.resource, cause=cause)
            return
        trouble: Hashable = ("watch", cause) if cause in _COMMON else ("watch", cause, str(problem))
        now = self._clock()
        since = self._concerned.setdefault(trouble, {}).setdefault(watched, now)
        may_pass = cause in _MENDS_ITSELF and now - since < TRANSIENT
        is_news = not may_pass and self._repetition.is_news(trouble, now)
        tell = self._log.warning if is_news else self._log.debug
        tell("Watch interrupted", resource=watched.resource, cause=cause, error=problem)

    def resumed(self, watched: Watched) -> None:
        """Say that what was said before is over, once the last watch that it concerned works again."""
        for trouble, concerned in list(self._concerned.items()):
            concerned.pop(watched, None)
            if not concerned:
                del self._concerned[trouble]
                self._owes_the_end |= self._repetition.ended(trouble)
        if self._owes_the_end and not self._concerned:
            self._owes_the_end = False
            self._log.info("Watches are back")

    def keeps(self, resource: Resource, silence: Callable[[], float]) -> None:
        """Let a cache's silence be asked for with the other metrics; of several of a resource the longest."""
        silences = self._silences.setdefault(resource, [])
        silences.append(silence)
        self._cache_metrics.cache_sync_age(str(resource)).set_function(lambda: max(each() for each in silences))

    def synced(self) -> None:
        """The caches are complete."""
        self._cache_metrics.cache_sync_timestamp.set(self._unix_time())
        self._log.info("Caches are complete")
