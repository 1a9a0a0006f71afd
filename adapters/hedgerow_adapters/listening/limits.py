"""What one client, and all of them together, may ask of a listener."""

from dataclasses import dataclass


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
