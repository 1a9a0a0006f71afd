"""Watches: which events a client sees of what happens in the storage.

A client that selects by labels sees an object appear and disappear as its labels change.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.lists import presented
from hedgerow_adapters.memory.options import Selection
from hedgerow_adapters.memory.statuses import internal, status_body
from hedgerow_adapters.memory.storage import Storage, StoredChange, with_revision
from hedgerow_adapters.protocol.transport import TransportError

WatchEvent: TypeAlias = Mapping[str, Any]
"""`{"type": ..., "object": ...}` as the server sends it."""
OnEvent: TypeAlias = Callable[[WatchEvent], None]
OnClose: TypeAlias = Callable[[TransportError | None], None]
"""Told once when the server ends a watch; with an error when the connection broke."""

_INITIAL_EVENTS_END: Final = {"k8s.io/initial-events-end": "true"}


def parse_start(query: Mapping[str, str]) -> int | None:
    """The revision after which a watch begins; none: with all that exists. Refused if it is no number."""
    written = query.get("resourceVersion", "")
    if written in ("", "0") or query.get("sendInitialEvents") == "true":
        return None
    if not (written.isascii() and written.isdigit()):
        shown = f'"{written}"'
        raise internal(f"resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: invalid syntax")
    return int(written)


class Subscription:
    """One watch. The client closes it with `close`; when the server ends it, `on_close` is told."""

    def __init__(
        self,
        *,
        storage: Storage,
        kind: Kind,
        selection: Selection,
        metadata_only: bool,
        bookmarks: bool,
        on_event: OnEvent,
        on_close: OnClose,
    ) -> None:
        self._storage = storage
        self._kind = kind
        self._selection = selection
        self._metadata_only = metadata_only
        self._bookmarks = bookmarks
        self._on_event = on_event
        self._on_close = on_close
        self._stop_listening: Callable[[], None] | None = None
        self._after = 0
        self.closed = False

    def open(self, after: int | None) -> None:
        """Send what the client has missed since a revision, or all that exists, and go on with what happens."""
        with self._storage.held_back():
            self._stop_listening = self._storage.listen(self._kind.stored_as, self._see)
            if after is None:
                self._send_everything()
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
            self._on_close(error)

    def send_bookmark(self, annotations: Mapping[str, str] | None = None) -> None:
        """Tell a client that wants to know it up to which revision it has seen everything."""
        if self.closed or not self._bookmarks:
            return
        bookmark: dict[str, Any] = {
            "kind": "PartialObjectMetadata" if self._metadata_only else self._kind.resource.kind,
            "apiVersion": "meta.k8s.io/v1" if self._metadata_only else self._kind.resource.api_version,
            "metadata": {"resourceVersion": str(self._storage.revision)},
        }
        if annotations:
            bookmark["metadata"] = {**bookmark["metadata"], "annotations": annotations}
        self._on_event({"type": "BOOKMARK", "object": bookmark})

    def _send_everything(self) -> None:
        state = self._storage.state(self._kind.stored_as)
        for manifest in [state.objects[path] for path in state.range(self._selection.namespace)]:
            if self._selection.matches(manifest):
                self._send("ADDED", manifest)
        self.send_bookmark(_INITIAL_EVENTS_END)

    def _send_missed(self, after: int) -> None:
        changes = self._storage.changes(self._kind.stored_as, after)
        if changes is None:
            message = f"too old resource version: {after} ({self._storage.horizon(self._kind.stored_as)})"
            self._on_event({"type": "ERROR", "object": status_body(410, "Expired", message)})
            self.end()
            return
        for change in changes:
            self._see(change)

    def _see(self, change: StoredChange) -> None:
        in_namespace = not self._selection.namespace or change.path.startswith(f"{self._selection.namespace}/")
        if self.closed or not in_namespace or change.revision <= self._after:
            return
        old, new = change.old, change.new
        was_seen = old is not None and self._selection.matches(old)
        if new is not None and self._selection.matches(new):
            self._send("MODIFIED" if was_seen else "ADDED", new)
        elif was_seen and old is not None:
            # What has gone is shown as it was last seen, with the version at which it went.
            self._send("DELETED", with_revision(old, change.revision))

    def _send(self, event_type: str, stored: Manifest) -> None:
        if not self.closed:
            shown = presented(self._kind, stored, metadata_only=self._metadata_only)
            self._on_event({"type": event_type, "object": shown})
