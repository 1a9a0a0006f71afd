"""What one client, and all of them together, may ask of an admission server."""

from dataclasses import dataclass

from hedgerow_adapters import listening


@dataclass(frozen=True, slots=True)
class Limits(listening.Limits):
    """Times are in seconds, sizes in bytes.

    Source: webhooks-and-tokens §3.1.
    """

    connections: int = 1024
    """Three API servers with the usual 200 changes in flight each need 600 at most."""
    request: float = 32.0
    """No API server waits for more than 30."""
    held: int = 48 * 2**20
    body: int = 7 * 2**20
    """Of one request."""
    farewell: float = 10.0
    """From the moment that the server leaves, for how long it takes new requests: API servers learn of it later."""
    drain: float = 11.0
    """After that, for how long reviews under way may take: none takes longer than 10 s."""
