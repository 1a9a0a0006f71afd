"""Which connections a server keeps, which it closes for the sake of others, and how many files they may take.

A connection is an open file, and the system limits those of a process. Without a share for each listener a crowd at one
of them would keep the lease from being renewed and the API server from being reached.

A connection is `unproven` until it has sent a whole request, `quiet` between its requests and while one arrives, and
`busy` while a request that has arrived is answered. If there are too many, the oldest unproven one is closed first,
then the one that is quiet longest; a busy one never. So a client that opens connections without end takes them from
itself, and not from clients at work.

All requests together hold no more bytes than the server allows, from their arrival until their answers are sent. If
there are too many, requests that have not arrived in full are refused, the oldest large one first; a request that is
being answered never. A share is left to small requests, so that they are answered beside large ones.
"""

import resource
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Protocol, Self

SMALL: Final = 1 / 64
"""The part of the bytes of all requests that a small one has at most."""
FOR_SMALL: Final = 1 / 8
"""The part of the bytes of all requests that only small ones may use."""
RESERVE: Final = 256
"""Files for all but the connections of listeners: those to API servers, and one turn's newly accepted ones."""
LEAST: Final = 8
"""Connections that each listener gets, however few files there are."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds, sizes in bytes."""

    connections: int
    """Open at a time; fewer where the system gives the process too few files."""
    request: float
    """From the first byte of a request to its answer."""
    held: int
    """Of all requests together, from their arrival until their answers are sent."""
    handshake: float = 10.0
    """From connection to its first byte, and from there to the end of a TLS handshake."""
    idle: float = 90.0
    """Without any request; also for a client that does not read its answer."""
    goodbye: float = 1.0
    """For the client's answer when a connection is closed in good order."""


@dataclass(frozen=True, slots=True)
class FileBudget:
    """The files for the connections of all listeners."""

    wanted: int
    """Connections that the listeners want together."""
    available: int
    """How many of them there are files for."""

    @classmethod
    def of(cls, wanted: int) -> Self:
        """The budget of this process, whose limit is raised as far as the system allows, if it has to be."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < wanted + RESERVE:
            soft = wanted + RESERVE if hard == resource.RLIM_INFINITY else min(wanted + RESERVE, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return cls(wanted, wanted if soft == resource.RLIM_INFINITY else min(wanted, max(0, soft - RESERVE)))

    def share(self, connections: int) -> int:
        """The connections that one listener may keep which wants so many: all, or in proportion to the others'."""
        return max(LEAST, connections * self.available // max(1, self.wanted))


class CrowdedError(Exception):
    """There is no room for a request now, for the reason in the text; its client may try again soon."""


class ConnectionObserver:
    """Every method does nothing; a subclass overrides what it is interested in."""

    def handshake_failed(self, problem: str) -> None:
        """A connection brought nothing in time, no TLS, or a certificate or none that the server or it refused."""

    def malformed(self, problem: str) -> None:
        """A connection carried no HTTP, or HTTP that could be read in two ways; it is closed."""

    def crowded(self, *, refused: bool) -> None:
        """There were too many connections: an idle one was closed, or none was idle and the new one was `refused`."""

    def overdue(self) -> None:
        """A connection was closed because it took too long."""

    def cannot_accept(self, problem: str) -> None:
        """The system gave no new connection."""


class Closable(Protocol):
    """A connection."""

    deadline: float
    """When it has to be closed, by the loop's clock."""

    def abort(self) -> object:
        """Close it at once."""

    def refuse(self) -> None:
        """Answer that there is no room for its request, which has not arrived in full."""


class Connections:
    """All connections of one server."""

    def __init__(self, most: int, held: int) -> None:
        """No connection yet; `most` may be open, their requests hold so many bytes until their answers are sent."""
        self._most = most
        self._most_held = held
        self._unproven: OrderedDict[Closable, None] = OrderedDict()
        self._quiet: OrderedDict[Closable, None] = OrderedDict()
        self._busy: set[Closable] = set()
        self._arriving: OrderedDict[Closable, int] = OrderedDict()
        """Bytes of requests that have not arrived in full."""
        self._arrived: dict[Closable, int] = {}
        """Bytes of requests whose answers are not sent."""
        self._held = 0

    def __len__(self) -> int:
        return len(self._unproven) + len(self._quiet) + len(self._busy)

    @property
    def are_full(self) -> bool:
        """Whether there is no room for one more."""
        return len(self) >= self._most

    def close_idlest(self) -> bool:
        """Close one connection that is not busy; false if there is none."""
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
        self.answered(connection)

    def holds(self, connection: Closable, size: int) -> None:
        """Note that so many bytes of a request have arrived; if there are too many in all, refuse requests."""
        self._arriving[connection] = self._arriving.get(connection, 0) + size
        self._held += size
        while connection in self._arriving and self._held > self._room_for(connection):
            refused = next(filter(self._is_large, self._arriving), None) or next(iter(self._arriving))
            self._held -= self._arriving.pop(refused)
            refused.refuse()

    def answered(self, connection: Closable) -> None:
        """Note that the answer to a request is sent."""
        self._held -= self._arriving.pop(connection, 0) + self._arrived.pop(connection, 0)

    def begins(self, connection: Closable) -> None:
        """Note that a request has arrived in full."""
        self._arrived[connection] = self._arrived.get(connection, 0) + self._arriving.pop(connection, 0)
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

    def _room_for(self, connection: Closable) -> float:
        return self._most_held * (1 - FOR_SMALL if self._is_large(connection) else 1)

    def _is_large(self, connection: Closable) -> bool:
        return self._arriving[connection] > SMALL * self._most_held
