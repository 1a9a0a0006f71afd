"""What one client, and all of them together, may ask of an admission server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds, sizes in bytes.

    Source: webhooks-and-tokens §3.1.
    """

    connections: int = 1024
    """Open at a time; three API servers with the usual 200 changes in flight each need 600 at most."""
    handshake: float = 10.0
    """From connection to the end of the TLS handshake."""
    goodbye: float = 1.0
    """For the client's answer when a connection is closed in good order."""
    idle: float = 90.0
    """Without any request; also for a client that does not read its answer."""
    request: float = 32.0
    """From the first byte of a request to its answer; no API server waits for more than 30."""
    body: int = 7 * 2**20
    """Of one request."""
    unfinished: int = 128 * 2**20
    """Of all requests together that have not arrived in full."""
    farewell: float = 1.0
    """When the server stops, for how long it takes new requests: API servers learn of it later than the process."""
    drain: float = 60.0
    """When the server stops, for how long reviews under way may take."""
