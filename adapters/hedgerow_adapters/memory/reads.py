"""How objects leave the server: whole or as metadata only, alone, in a list page by page, or as events of a watch.

All pages of a list show the objects as they were when the first was asked for. A client that watches by labels sees an
object appear and disappear as its labels change.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.options import INCONSISTENT, Continuation, ListOptions, Selection, unreadable_version
from hedgerow_adapters.memory.statuses import RefusedError, internal, refused, status_body
from hedgerow_adapters.memory.storage import State, Storage, StoredChange, with_revision
from hedgerow_adapters.protocol.transport import Response, TransportError

WatchEvent: TypeAlias = Mapping[str, Any]
"""`{"type": ..., "object": ...}` as the server sends it."""
OnEvent: TypeAlias = Callable[[WatchEvent], None]
OnClose: TypeAlias = Callable[[TransportError | None], None]
"""Told once when the server ends a watch; with an error when the connection broke."""

_METADATA: Final = "PartialObjectMetadata"
_METADATA_LIST: Final = "PartialObjectMetadataList"
_META_VERSION: Final = "meta.k8s.io/v1"
_TOKEN_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. "  # noqa: S105 -- no password
    "You can start a new list without the continue parameter, or continue with the token of this answer."
)


def wants_metadata(accept: str, *, a_list: bool) -> bool:
    """Whether a client asked for nothing but metadata; refused if it asked for the wrong number of objects."""
    parameters = {part.strip() for part in accept.partition(",")[0].split(";")[1:]}
    wanted, other, state = (_METADATA_LIST, _METADATA, "") if a_list else (_METADATA, _METADATA_LIST, "not ")
    if f"as={other}" in parameters:
        raise refused(406, "NotAcceptable", f"you requested {other}, but the requested object is {state}a list")
    return f"as={wanted}" in parameters


def presented(kind: Kind, stored: Manifest, *, metadata_only: bool) -> Manifest:
    """A stored object as a kind serves it."""
    return metadata_of(stored) if metadata_only else kind.from_stored(stored)


def metadata_of(manifest: Manifest) -> dict[str, Any]:
    """An object reduced to its metadata."""
    return {"kind": _METADATA, "apiVersion": _META_VERSION, "metadata": manifest["metadata"]}


def presented_list(
    kind: Kind, stored: Iterable[Manifest], metadata: Mapping[str, Any], *, metadata_only: bool
) -> dict[str, Any]:
    """Stored objects as a list. Its items are without kind and apiVersion, as the server leaves them out."""
    items: list[Manifest] = [presented(kind, manifest, metadata_only=metadata_only) for manifest in stored]
    if metadata_only:
        return {"kind": _METADATA_LIST, "apiVersion": _META_VERSION, "metadata": metadata, "items": items}
    items = [{name: value for name, value in item.items() if name not in ("kind", "apiVersion")} for item in items]
    resource = kind.resource
    return {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": metadata, "items": items}


def page(
    storage: Storage, kind: Kind, selection: Selection, options: ListOptions
) -> tuple[list[Manifest], dict[str, Any]]:
    """The stored objects of one page, and the list's metadata; refused if its version is too old or yet to come."""
    state = _state(storage, kind, options)
    after = options.continuation.after if options.continuation else ""
    paths = state.range(selection.namespace, after)
    if selection.is_everything:
        chosen = paths[: options.limit]
    else:
        chosen = list(islice((path for path in paths if selection.matches(state.objects[path])), options.limit))
    metadata: dict[str, Any] = {"resourceVersion": str(state.revision)}
    if options.limit is not None and len(chosen) == options.limit and chosen[-1] != paths[-1]:
        # What follows need not be selected: the last page may be empty.
        metadata["continue"] = Continuation(state.revision, chosen[-1]).token()
        if selection.is_everything:
            metadata["remainingItemCount"] = len(paths) - len(chosen)
    return [state.objects[path] for path in chosen], metadata


def _state(storage: Storage, kind: Kind, options: ListOptions) -> State:
    """The state that the list shows."""
    resource, asked = kind.stored_as, options.resource_version
    if options.continuation is not None and options.continuation.revision != INCONSISTENT:
        state = storage.past_state(resource, options.continuation.revision)
        if state is None:
            token = options.continuation._replace(revision=INCONSISTENT).token()
            raise RefusedError(Response(410, status_body(410, "Expired", _TOKEN_TOO_OLD, continuation=token)))
        return state
    if asked is not None and asked > storage.revision:
        raise _from_the_future(asked, storage.revision)
    if options.exact and asked is not None:
        state = storage.past_state(resource, asked)
        if state is None:
            raise refused(410, "Expired", "The resourceVersion for the provided list is too old.")
        return state
    return storage.state(resource)


def _from_the_future(asked: int, current: int) -> RefusedError:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    body = status_body(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
    return RefusedError(Response(504, body, {"retry-after": "1"}))


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
