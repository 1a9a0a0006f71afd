"""Which entry is looked at next, and when: a line for now, and an alarm for later.

Guarantees: an entry waits at most once in the line, however often it is added; of several alarms of an entry the
earliest counts; alarms of one time go off in the order in which they were set. It knows no clock but what it is told.
"""

import heapq
import itertools
import math
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

Entry = TypeVar("Entry", bound=Hashable)


class Agenda(Generic[Entry]):
    """What waits to be looked at."""

    def __init__(self) -> None:
        self._line: dict[Entry, None] = {}
        self._alarms: dict[Entry, datetime] = {}
        self._heap: list[tuple[datetime, int, Entry]] = []
        self._numbers = itertools.count()

    def add(self, entry: Entry) -> None:
        """Put an entry in line, unless it stands there already."""
        self._line.setdefault(entry)

    def add_after(self, entry: Entry, seconds: float, now: datetime) -> None:
        """Put an entry in line after so many seconds: never a moment too early."""
        when = now + timedelta(microseconds=math.ceil(seconds * 1_000_000))
        if entry in self._alarms and self._alarms[entry] <= when:
            return
        self._alarms[entry] = when
        heapq.heappush(self._heap, (when, next(self._numbers), entry))

    def take(self) -> Entry | None:
        """The entry that has waited longest; none if nothing waits for its turn now."""
        entry = next(iter(self._line), None)
        if entry is not None:
            del self._line[entry]
        return entry

    @property
    def due(self) -> datetime | None:
        """When the next alarm goes off; none if none is set."""
        while self._heap and self._alarms.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def ring(self, now: datetime) -> None:
        """Put everything in line whose alarm goes off by now."""
        while (due := self.due) is not None and due <= now:
            _, _, entry = heapq.heappop(self._heap)
            del self._alarms[entry]
            self.add(entry)
