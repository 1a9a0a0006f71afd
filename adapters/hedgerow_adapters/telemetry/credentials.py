"""Tells when an API server refuses the credentials of the process, and when it accepts some again."""

import time
from collections.abc import Callable
from typing import Final

from hedgerow_adapters.telemetry.logs import Log
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_adapters.telemetry.troubles import TRANSIENT, Teller

_REFUSED: Final = "401"
_NO_ANSWER: Final = "<error>"
_TROUBLE: Final = "credentials"


class CredentialsTelemetry(Teller):
    """Hears the status codes of one API server.

    A 401 that a success follows soon is no trouble: credentials that were replaced are read again after the first.
    """

    def __init__(self, log: Log, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(log, clock)
        self._since: float | None = None

    def heard(self, code: str) -> None:
        """Note an answer, or that none came, which says nothing about credentials."""
        if code == _NO_ANSWER:
            return
        if code != _REFUSED:
            self._since = None
            if self._repetition.ended(_TROUBLE):
                self._log.tell(Message.CREDENTIALS_ACCEPTED)
            return
        now = self._clock()
        if self._since is None:
            self._since = now
        if now - self._since >= TRANSIENT:
            self._once(_TROUBLE, Message.CREDENTIALS_REFUSED)
