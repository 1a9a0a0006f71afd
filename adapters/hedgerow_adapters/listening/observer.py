"""What a listener tells about its connections, for logs and metrics."""


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
