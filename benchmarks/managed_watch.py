"""Sees objects change as any client would: by a watch of its own, with the time at which each event arrived."""

import http.client
import json
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self

from benchmarks.policy_watch import SlimConnection
from benchmarks.prepared import Prepared
from tests.control_plane import ControlPlane
from tests.control_plane.processes import ServerError

MANAGED_RESOURCES: Final = "/apis/resources.gardener.cloud/v1alpha1/managedresources"
PATIENCE: Final = 600.0
EVENT_PATIENCE: Final = 90.0
"""Longer than any period after which the process looks again."""
WORKING: Final = "managedresource"
"""What the process logs when it has begun to look after ManagedResources."""


class Seen(NamedTuple):
    """One event."""

    at: float
    """On the clock of `time.perf_counter`."""
    type: str
    object: dict[str, Any]


class ObjectWatch:
    """Reads a watch in a thread of its own, which waits for the socket and keeps nobody else from working."""

    def __init__(self, plane: ControlPlane, collection: str, resource_version: str) -> None:
        self._plane = plane
        self._collection = collection
        self._version = resource_version
        self._seen: queue.SimpleQueue[Seen] = queue.SimpleQueue()
        self._stream = self._open()
        threading.Thread(target=self._read, name="object-watch", daemon=True).start()

    @classmethod
    def from_now_on(cls, plane: ControlPlane, collection: str = MANAGED_RESOURCES) -> Self:
        """A watch of what happens to the objects of a collection after this; it ends with the control plane."""
        _, body = plane.request("GET", f"{collection}?limit=1")
        return cls(plane, collection, body["metadata"]["resourceVersion"])

    def first_that(self, holds: Callable[[Seen], bool]) -> float:
        """When the next event arrives that something holds for; those before it are forgotten."""
        while not holds(seen := self._seen.get(timeout=EVENT_PATIENCE)):
            pass
        return seen.at

    def all_are_applied(self, count: int, still: Callable[[], None]) -> float:
        """When the last of so many ManagedResources said for the first time that it is applied.

        Args:
            count: how many there are.
            still: fails once there is nothing to wait for any more.
        """
        applied, deadline = set[str](), time.monotonic() + PATIENCE
        while True:
            try:
                seen = self._seen.get(timeout=1)
            except queue.Empty:
                still()
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{len(applied)} of {count} are applied") from None
                continue
            if is_applied(seen.object):
                applied.add(seen.object["metadata"]["uid"])
                if len(applied) == count:
                    return seen.at

    def _open(self) -> http.client.HTTPResponse:
        query = f"watch=1&timeoutSeconds=3600&resourceVersion={self._version}"
        return SlimConnection(self._plane).open(Prepared("GET", f"{self._collection}?{query}"))

    def _read(self) -> None:
        """Read until the control plane goes; a server that ends the watch of a slow reader is asked to go on."""
        with suppress(OSError, http.client.HTTPException, ServerError):  # that is how it ends
            while True:
                while line := self._stream.readline():
                    at = time.perf_counter()
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise RuntimeError(f"the watch cannot go on: {event['object']}")
                    self._version = event["object"]["metadata"]["resourceVersion"]
                    self._seen.put(Seen(at, event["type"], event["object"]))
                self._stream = self._open()


def is_applied(managed: dict[str, Any]) -> bool:
    """Whether a ManagedResource says so."""
    conditions = managed.get("status", {}).get("conditions", ())
    return any(each["type"] == "ResourcesApplied" and each["status"] == "True" for each in conditions)
