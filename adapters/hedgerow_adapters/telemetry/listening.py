"""What a listener reports about its connections, as log lines.

What anybody can provoke by the thousand is said once in a while, and texts that come from clients are cut.
"""

from collections.abc import Callable, Hashable
from typing import Final

from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from hedgerow_adapters.listening.connection import ConnectionObserver
from hedgerow_adapters.telemetry.logs import Repetition

LONGEST_TEXT: Final = 500
"""Characters of one value in a line."""


class ListenerTelemetry(ConnectionObserver):
    """Turns what one listener reports into lines."""

    def __init__(
        self,
        log: FilteringBoundLogger,
        clock: Callable[[], float],
        *,
        on_closed: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        """No line yet; `on_closed` hears why the listener closed a connection by itself: one word."""
        self._log = log
        self._clock = clock
        self._on_closed = on_closed
        self._repetition = Repetition()

    @override
    def handshake_failed(self, problem: str) -> None:
        self._on_closed("handshake")
        tell = self._log.warning if self._is_news("handshake", problem) else self._log.debug
        tell("TLS handshake failed", error=cut(problem))

    @override
    def malformed(self, problem: str) -> None:
        self._on_closed("malformed")
        self._log.debug("Malformed request", error=cut(problem))

    @override
    def crowded(self, *, refused: bool) -> None:
        self._on_closed("refused" if refused else "crowded")
        if self._is_news("crowded"):
            self._log.warning("Too many connections")

    @override
    def overdue(self) -> None:
        self._on_closed("overdue")

    @override
    def cannot_accept(self, problem: str) -> None:
        tell = self._log.error if self._is_news("accept", problem) else self._log.debug
        tell("Cannot take connections", error=cut(problem))

    def _is_news(self, *trouble: Hashable) -> bool:
        return self._repetition.is_news(trouble, self._clock())


def cut(text: str) -> str:
    """A text of no more than so many characters."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
