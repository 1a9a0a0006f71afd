"""Sees policies come and go as any client would: by a watch of its own, with the time at which each event arrived."""

import http.client
import json
import queue
import ssl
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Final, NamedTuple, Self

from benchmarks.prepared import NETWORK_POLICIES, Prepared
from tests.control_plane import ControlPlane

PATIENCE: Final = 30.0


class Seen(NamedTuple):
    """One event."""

    change: str
    """ADDED, MODIFIED or DELETED."""
    policy: str
    at: float
    """On the clock of `time.perf_counter`."""


class SlimConnection:
    """One blocking connection, so that nothing but the request stands between the clock and the API server."""

    def __init__(self, plane: ControlPlane, user: str = "admin") -> None:
        host = plane.url.removeprefix("https://")
        self._connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cadata=plane.ca_pem))
        self._authorization = f"Bearer {plane.token(user)}"

    def send(self, request: Prepared) -> None:
        """Send a request and read the whole answer."""
        response = self.open(request)
        response.read()

    def open(self, request: Prepared) -> http.client.HTTPResponse:
        """Send a request; the answer is still to be read."""
        headers = {"Authorization": self._authorization, "Content-Type": request.content_type}
        self._connection.request(request.method, request.path, request.body or None, headers)
        response = self._connection.getresponse()
        if not http.client.OK <= response.status < http.client.MULTIPLE_CHOICES:
            raise ConnectionError(f"{request.method} {request.path}: {response.status} {response.read()!r}")
        return response


class PolicyWatch:
    """Reads a watch in a thread of its own, which waits for the socket and keeps nobody else from working."""

    def __init__(self, stream: http.client.HTTPResponse) -> None:
        self._stream = stream
        self._seen: queue.SimpleQueue[Seen] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="policy-watch", daemon=True).start()

    @classmethod
    def from_now_on(cls, plane: ControlPlane) -> Self:
        """A watch of what happens after this; it ends with the control plane."""
        _, body = plane.request("GET", f"{NETWORK_POLICIES}?limit=1")
        query = f"watch=1&timeoutSeconds=3600&resourceVersion={body['metadata']['resourceVersion']}"
        return cls(SlimConnection(plane).open(Prepared("GET", f"{NETWORK_POLICIES}?{query}")))

    def all_are(self, change: str, policies: Collection[str]) -> float:
        """When the last of these policies changed so; any other event in between is an error."""
        missing, at = set(policies), 0.0
        while missing:
            seen = self._seen.get(timeout=PATIENCE)
            if seen.change != change or seen.policy not in missing:
                raise AssertionError(f"{seen.change} {seen.policy} instead of {change} {sorted(missing)}")
            missing.discard(seen.policy)
            at = seen.at
        return at

    def _read(self) -> None:
        with suppress(OSError, http.client.HTTPException):  # that is how it ends
            while line := self._stream.readline():
                at = time.perf_counter()
                event = json.loads(line)
                self._seen.put(Seen(event["type"], event["object"]["metadata"]["name"], at))
