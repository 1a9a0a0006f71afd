"""Which connections a server keeps, and which it closes for the sake of others.

A connection is `unproven` until it has brought a whole request, `quiet` between its requests and while one arrives,
and `busy` while a request that has arrived is reviewed. When there are too many, the unproven one that is there longest
goes first, then the one that is quiet longest; a busy one never. So whoever opens connections without end takes them
from himself, and not from API servers at work.

Knows no sockets and no HTTP.
"""

from collections import OrderedDict
from typing import Protocol

from hedgerow_adapters.admission.limits import Limits


class Closable(Protocol):
    """A connection as it is seen here."""

    deadline: float
    """When it has to be closed, by the loop's clock."""

    def abort(self) -> None:
        """Close it without further words."""
        ...


class Connections:
    """All connections of one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._unproven: OrderedDict[Closable, None] = OrderedDict()
        self._quiet: OrderedDict[Closable, None] = OrderedDict()
        self._busy: set[Closable] = set()
        self._held: OrderedDict[Closable, int] = OrderedDict()
        """Bytes of requests that have not arrived in full."""
        self._held_in_all = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._unproven) + len(self._quiet) + len(self._busy)

    @property
    def are_full(self) -> bool:
        """Whether there is no room for one more."""
        return len(self) >= self._limits.connections

    @property
    def are_busy(self) -> bool:
        """Whether any request is being reviewed."""
        return bool(self._busy)

    def close_idlest(self) -> bool:
        """Close the connection that is missed least, if any can be."""
        for idle in (self._unproven, self._quiet):
            if idle:
                connection, _ = idle.popitem(last=False)
                connection.abort()
                return True
        return False

    def opened(self, connection: Closable) -> None:
        """Count a new connection."""
        self._unproven[connection] = None

    def closed(self, connection: Closable) -> None:
        """Forget a connection, whatever it was."""
        self._unproven.pop(connection, None)
        self._quiet.pop(connection, None)
        self._busy.discard(connection)
        self._let_go(connection)

    def holds(self, connection: Closable, size: int) -> None:
        """Note that so many bytes of a request have arrived; where there are too many in all, the slowest go."""
        self._held[connection] = self._held.get(connection, 0) + size
        self._held_in_all += size
        while self._held_in_all > self._limits.unfinished:
            slowest = next(iter(self._held))
            self._let_go(slowest)
            slowest.abort()

    def begins(self, connection: Closable) -> None:
        """Note that a request has arrived in full."""
        self._let_go(connection)
        self._unproven.pop(connection, None)
        self._quiet.pop(connection, None)
        self._busy.add(connection)

    def rests(self, connection: Closable) -> None:
        """Note that a connection that was busy has its answer, unless it is gone."""
        if connection in self._busy:
            self._busy.remove(connection)
            self._quiet[connection] = None

    def close_overdue(self, now: float) -> int:
        """Close those whose deadline has passed; how many."""
        overdue = [each for each in (*self._unproven, *self._quiet, *self._busy) if each.deadline < now]
        for connection in overdue:
            self.closed(connection)
            connection.abort()
        return len(overdue)

    def _let_go(self, connection: Closable) -> None:
        self._held_in_all -= self._held.pop(connection, 0)
