"""HTTPS connections to a server on loopback that are kept: a new one costs both sides more than most requests."""

import http.client
import select
import ssl
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from tests.control_plane.processes import PATIENCE


class Connections:
    """Connections to one port, for any number of threads; each serves one request at a time."""

    def __init__(self, port: int, ca_pem: str) -> None:
        self._port = port
        self._context = ssl.create_default_context(cadata=ca_pem)
        self._kept: deque[http.client.HTTPSConnection] = deque()

    def new(self, *, timeout: float | None = PATIENCE) -> http.client.HTTPSConnection:
        """A connection of the caller's own, who closes it."""
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=timeout, context=self._context)

    @contextmanager
    def one(self) -> Iterator[http.client.HTTPSConnection]:
        """A connection that serves the next request, too, unless this one fails. The answer has to be read whole."""
        connection = self._reused() or self.new()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._kept.append(connection)

    def close(self) -> None:
        """Close those that are kept."""
        while self._kept:
            self._kept.pop().close()

    def _reused(self) -> http.client.HTTPSConnection | None:
        """A kept connection that the server has not closed."""
        while self._kept:
            connection = self._kept.pop()
            if connection.sock is not None and not _is_readable(connection.sock.fileno()):
                return connection
            connection.close()
        return None


def _is_readable(descriptor: int) -> bool:
    """Whether there is something to read, which between requests is the end alone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
