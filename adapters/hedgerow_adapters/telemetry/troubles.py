"""What goes wrong again and again, said once in a while: the troubles of watches and listeners, as lines and metrics.

Of a listener anybody can provoke them by the thousand, with texts as long as they like: those are cut.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.listening.connections import ConnectionObserver
from hedgerow_adapters.telemetry.logs import Log
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.metrics import ReadingMetrics

REMINDER: Final = 600.0
"""Seconds after which what still goes on is said again."""
PAUSE: Final = 60.0
"""Seconds in which a trouble that comes and goes is said once."""
REMEMBERED: Final = 8192
"""Troubles: more than that, such as one of each of very many keys, are said more often."""
TRANSIENT: Final = 3.0
"""Seconds for which a trouble that mostly mends itself is not told."""
_MENDS_ITSELF: Final = frozenset({"forbidden", "expired"})
"""An API server that has just started does not know its roles yet; what it has forgotten a list brings at once."""
_COMMON: Final = frozenset({"disconnected", "expired"})
"""Causes that say nothing about the resource whose watch they end: a line about one speaks for all."""
LONGEST_TEXT: Final = 500


@dataclass(slots=True)
class _Trouble:
    began: float
    said_at: float = float("-inf")
    is_over: bool = False


class Repetition:
    """The troubles of late. A trouble is any value that is equal when it is the same again."""

    def __init__(self) -> None:
        self._troubles: OrderedDict[int, _Trouble] = OrderedDict()

    def is_news(self, trouble: Hashable, now: float) -> bool:
        """Note a trouble, and whether it is to be said now, in monotonic seconds: not if it was before."""
        mark = hash(trouble)
        known = self._troubles.setdefault(mark, _Trouble(now))
        if known.is_over:
            known.began, known.is_over = now, False
        self._troubles.move_to_end(mark)
        if len(self._troubles) > REMEMBERED:
            self._troubles.popitem(last=False)
        quiet = REMINDER if known.said_at >= known.began else PAUSE
        if now - known.said_at < quiet:
            return False
        known.said_at = now
        return True

    def ended(self, trouble: Hashable) -> bool:
        """Note the end of a trouble, and whether it had been said, so that its end should be too."""
        known = self._troubles.get(hash(trouble))
        if known is None or known.is_over:
            return False
        known.is_over = True
        return known.said_at >= known.began


class Teller:
    """Has a log, and says in it what is news; what was said a short while ago only shows at level `debug`."""

    def __init__(self, log: Log, clock: Callable[[], float]) -> None:
        self._log: Final = log
        self._clock: Final = clock
        self._repetition: Final = Repetition()

    def _is_news(self, trouble: Hashable) -> bool:
        return self._repetition.is_news(trouble, self._clock())

    def _once(self, trouble: Hashable, message: Message, **members: object) -> None:
        """Say a trouble; again only after a while."""
        self._log.tell(message, again=not self._is_news(trouble), **members)


class ReadingTelemetry(Teller):
    """An `InformerObserver`; one line says that watches fail together, and one that all of them work again."""

    def __init__(
        self,
        log: Log,
        metrics: ReadingMetrics,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(log, clock)
        self._cache_metrics: Final = metrics
        self._unix_time = unix_time
        self._concerned: dict[Hashable, dict[Watched, float]] = {}
        """Which watches are in some trouble, and since when."""
        self._owes_the_end = False
        self._silences: dict[Resource, list[Callable[[], float]]] = {}

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """Count the end of a list or watch; a problem that is news, and may not mend itself, is worth a line."""
        self._cache_metrics.watch_restarts(str(watched.resource), cause).inc()
        if problem is None:
            self._log.tell(Message.WATCH_ENDED, resource=watched.resource, cause=cause)
            return
        trouble = ("watch", cause) if cause in _COMMON else ("watch", cause, str(problem))
        now = self._clock()
        since = self._concerned.setdefault(trouble, {}).setdefault(watched, now)
        may_pass = cause in _MENDS_ITSELF and now - since < TRANSIENT
        is_news = not may_pass and self._is_news(trouble)
        self._log.tell(
            Message.WATCH_INTERRUPTED, again=not is_news, resource=watched.resource, cause=cause, error=problem
        )

    def resumed(self, watched: Watched) -> None:
        """Say that what was said before is over, once the last watch that it concerned works again."""
        for trouble, concerned in list(self._concerned.items()):
            concerned.pop(watched, None)
            if not concerned:
                del self._concerned[trouble]
                self._owes_the_end |= self._repetition.ended(trouble)
        if self._owes_the_end and not self._concerned:
            self._owes_the_end = False
            self._log.tell(Message.WATCHES_BACK)

    def keeps(self, resource: Resource, silence: Callable[[], float]) -> None:
        """Let a cache's silence be asked for with the other metrics; of several of a resource the longest."""
        silences = self._silences.setdefault(resource, [])
        silences.append(silence)
        self._cache_metrics.cache_sync_age(str(resource)).set_function(lambda: max(each() for each in silences))

    def synced(self) -> None:
        """The caches are complete."""
        self._cache_metrics.cache_sync_timestamp.set(self._unix_time())
        self._log.tell(Message.CACHES_COMPLETE)


class ListenerTelemetry(Teller, ConnectionObserver):
    """Turns what one listener reports into lines."""

    def __init__(
        self,
        log: Log,
        clock: Callable[[], float],
        *,
        on_closed: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        super().__init__(log, clock)
        self._on_closed = on_closed

    @override
    def handshake_failed(self, problem: str) -> None:
        self._on_closed("handshake")
        self._once(("handshake", problem), Message.HANDSHAKE_FAILED, error=cut(problem))

    @override
    def malformed(self, problem: str) -> None:
        self._on_closed("malformed")
        self._log.tell(Message.MALFORMED, error=cut(problem))

    @override
    def crowded(self, *, refused: bool) -> None:
        self._on_closed("refused" if refused else "crowded")
        if self._is_news("crowded"):
            self._log.tell(Message.CROWDED)

    @override
    def overdue(self) -> None:
        self._on_closed("overdue")

    @override
    def cannot_accept(self, problem: str) -> None:
        self._once(("accept", problem), Message.CANNOT_ACCEPT, error=cut(problem))


def cut(text: str) -> str:
    """A text of no more than so many characters."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
