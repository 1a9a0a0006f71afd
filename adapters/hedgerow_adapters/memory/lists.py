"""How objects leave the server: whole or as metadata only, alone or in a list, page by page.

All pages of a list show the objects as they were when the first was asked for.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.options import INCONSISTENT, Continuation, ListOptions, Selection
from hedgerow_adapters.memory.statuses import RefusedError, refused, status_body
from hedgerow_adapters.memory.storage import State, Storage
from hedgerow_adapters.protocol.transport import Response

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
