"""What one client, and all of them together, may ask of a listener, and how many files its connections may take.

A connection is an open file, and the system limits those of a process. Without a share for each listener a crowd at one
of them would keep the lease from being renewed and the API server from being reached.
"""

import resource
from dataclasses import dataclass
from typing import Final, Self

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
