"""Errands one after the other, while something happens to those who do them."""

import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from tests.control_plane import PATIENCE, wait_until
from tests.e2e.whole_process.errand import Errand
from tests.e2e.whole_process.shoot import Shoot

PAUSE: Final = 0.5
"""Seconds between two errands."""
SOME: Final = 5


class Load:
    """A context manager: while it is entered, errand follows errand, and what is refused is kept."""

    def __init__(self, shoot: Shoot, numbers: Iterator[int]) -> None:
        self._shoot = shoot
        self._numbers = numbers
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="load", daemon=True)
        self.errands: list[Errand] = []
        self.refused: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def wait_for_more(self) -> None:
        """Returns when some more errands are under way."""
        enough = len(self.errands) + SOME
        wait_until(
            lambda: len(self.errands) >= enough, timeout=PATIENCE, otherwise=lambda: AssertionError("there is no load")
        )

    def _ask(self) -> None:
        while not self._stop.wait(PAUSE):
            errand = Errand(self._shoot, next(self._numbers))
            try:
                errand.ask()
            except (AssertionError, OSError) as problem:
                self.refused.append(str(problem))
            self.errands.append(errand)
