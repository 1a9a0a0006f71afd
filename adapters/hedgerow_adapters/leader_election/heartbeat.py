"""Whether one event loop still runs its callbacks, seen from another thread."""

import asyncio
from typing import Final

PERIOD: Final = 1.0
"""Seconds between two signs of life."""


class Heartbeat:
    """Signs of life of the loop that runs `beat`, for the loop that runs `stopped`."""

    def __init__(self, patience: float) -> None:
        """A heart that has not beaten yet.

        Args:
            patience: seconds without a sign of life after which the loop counts as stuck.
        """
        self.patience: Final = patience
        self._beats = 0

    async def beat(self) -> None:
        """Give signs of life, until cancelled."""
        while True:
            self._beats += 1
            await asyncio.sleep(PERIOD)

    async def stopped(self) -> None:
        """Return once there was no sign of life for too long.

        The own pauses are counted and not the time, so a process that was suspended has not been silent.
        """
        silent, seen = 0.0, self._beats
        while silent < self.patience:
            await asyncio.sleep(PERIOD)
            silent = silent + PERIOD if self._beats == seen else 0.0
            seen = self._beats
