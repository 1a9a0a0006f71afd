"""Watches: which events a client sees of what happens in the storage.

A client that selects by labels sees an object appear and disappear as its labels change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.lists import metadata_of, presented
from hedgerow_adapters.memory.options import Selection, unreadable_version
from hedgerow_adapters.memory.statuses import internal, status_body
from hedgerow_adapters.memory.storage import Storage, StoredChange, with_revision
from hedgerow_adapters.protocol.transport import TransportError

WatchEvent: TypeAlias = Mapping[str, Any]
"""`{"type": ..., "object": ...}` as the server sends it."""
OnEvent: TypeAlias = Callable[[WatchEvent], None]
OnClose: TypeAlias = Callable[[TransportError | None], None]
"""Told once when the server ends a watch; with an error when the connection broke."""


def parse_start(query: Mapping[str, str]) -> int | None:
    """The revision after which a watch begins; none: with all that exists. Refused if it is no number."""
    written = query.get("resourceVersion", "")
    if written in ("", "0") or query.get("sendInitialEvents") == "true":
        return None
    if not (written.isascii() and written.isdigit()):
        raise internal(unreadable_version(written))
    return int(written)


@dataclass(slots=True, kw_only=True, eq=False)
class Subscription:
    """One watch. The client closes it with `close`; when the server ends it, `on_close` is told."""

    storage: Storage
    kind: Kind
    selection: Selection
    metadata_only: bool
    bookmarks: bool
    on_event: OnEvent
    on_close: OnClose
    closed: bool = False
    _stop_listening: Callable[[], None] | None = field(default=None, init=False)
    _after: int = field(default=0, init=False)

    def open(self, after: int | None) -> None:
        """Send what the client has missed since a revision, or all that exists, and go on with what happens."""
        with self.storage.held_back():
            self._stop_listening = self.storage.listen(self.kind.stored_as, self._see)
            if after is None:
                for manifest in self.storage.state(self.kind.stored_as).of_namespace(self.selection.namespace):
                    if self.selection.matches(manifest):
                        self._send("ADDED", manifest)
                self.send_bookmark(annotations={"k8s.io/initial-events-end": "true"})
            else:
                self._after = after
                self._send_missed(after)

    def close(self) -> None:
        """The client leaves: it is told nothing more."""
        self.closed = True
        if self._stop_listening is not None:
            self._stop_listening()

    def end(self, error: TransportError | None = None) -> None:
        """The server leaves, or the connection breaks."""
        if not self.closed:
            self.close()
            self.on_close(error)

    def send_bookmark(self, **more: Any) -> None:
        """Tell a client that wants to know it up to which revision it has seen everything."""
        if self.closed or not self.bookmarks:
            return
        resource, metadata = self.kind.resource, {"resourceVersion": str(self.storage.revision), **more}
        shown = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        self.on_event({"type": "BOOKMARK", "object": metadata_of(shown) if self.metadata_only else shown})

    def _send_missed(self, after: int) -> None:
        changes = self.storage.changes(self.kind.stored_as, after)
        if changes is None:
            message = f"too old resource version: {after} ({self.storage.horizon(self.kind.stored_as)})"
            self.on_event({"type": "ERROR", "object": status_body(410, "Expired", message)})
            self.end()
            return
        for change in changes:
            self._see(change)

    def _see(self, change: StoredChange) -> None:
        in_namespace = not self.selection.namespace or change.path.startswith(f"{self.selection.namespace}/")
        if not in_namespace or change.revision <= self._after:
            return
        old, new = change.old, change.new
        was_seen = old is not None and self.selection.matches(old)
        if new is not None and self.selection.matches(new):
            self._send("MODIFIED" if was_seen else "ADDED", new)
        elif was_seen and old is not None:
            # What has gone is shown as it was last seen, with the version at which it went.
            self._send("DELETED", with_revision(old, change.revision))

    def _send(self, event_type: str, stored: Manifest) -> None:
        if not self.closed:
            shown = presented(self.kind, stored, metadata_only=self.metadata_only)
            self.on_event({"type": event_type, "object": shown})
