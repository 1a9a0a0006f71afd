"""How objects leave the server: whole or as metadata only, alone or in a list, page by page.

All pages of a list show the objects as they were when the first was asked for.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.options import INCONSISTENT, Continuation, ListOptions, Selection
from hedgerow_adapters.memory.statuses import RefusedError, refused, status_body
from hedgerow_adapters.memory.storage import State, Storage
from hedgerow_adapters.protocol.transport import Response

_METADATA: Final = "as=PartialObjectMetadata"
_METADATA_LIST: Final = "as=PartialObjectMetadataList"
_META_VERSION: Final = "meta.k8s.io/v1"
_TOKEN_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. "  # noqa: S105 -- no password
    "You can start a new list without the continue parameter, or continue with the token of this answer."
)


def wants_metadata(accept: str, *, a_list: bool) -> bool:
    """Whether a client asked for nothing but metadata; refused if it asked for the wrong number of objects."""
    parameters = {part.strip() for part in accept.partition(",")[0].split(";")[1:]}
    if _METADATA in parameters and a_list:
        raise refused(406, "NotAcceptable", "you requested PartialObjectMetadata, but the requested object is a list")
    if _METADATA_LIST in parameters and not a_list:
        problem = "you requested PartialObjectMetadataList, but the requested object is not a list"
        raise refused(406, "NotAcceptable", problem)
    return bool(parameters & {_METADATA, _METADATA_LIST})


def presented(kind: Kind, stored: Manifest, *, metadata_only: bool) -> Manifest:
    """A stored object as a kind serves it."""
    return metadata_of(stored) if metadata_only else kind.from_stored(stored)


def metadata_of(manifest: Manifest) -> dict[str, Any]:
    """An object reduced to its metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": _META_VERSION, "metadata": manifest["metadata"]}


def presented_list(
    kind: Kind, stored: Iterable[Manifest], metadata: Mapping[str, Any], *, metadata_only: bool
) -> dict[str, Any]:
    """Stored objects as a list. Its items are without kind and apiVersion, as the server leaves them out."""
    items: list[Manifest] = [presented(kind, manifest, metadata_only=metadata_only) for manifest in stored]
    if metadata_only:
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": _META_VERSION,
            "metadata": metadata,
            "items": items,
        }
    return {
        "kind": f"{kind.resource.kind}List",
        "apiVersion": kind.resource.api_version,
        "metadata": metadata,
        "items": [
            {name: value for name, value in item.items() if name not in ("kind", "apiVersion")} for item in items
        ],
    }


class Page(NamedTuple):
    """Some stored objects of a list, and the list's metadata."""

    objects: list[Manifest]
    metadata: dict[str, Any]


def page(storage: Storage, kind: Kind, selection: Selection, options: ListOptions) -> Page:
    """The objects of one page; refused if the version asked for is too old or yet to come."""
    state = _state(storage, kind, options)
    after = options.continuation.after if options.continuation else ""
    paths = state.range(selection.namespace, after)
    matches: Callable[[Manifest], bool] = selection.matches
    if selection.is_everything:
        chosen = paths if options.limit is None else paths[: options.limit]
    else:
        wanted = (path for path in paths if matches(state.objects[path]))
        chosen = list(wanted if options.limit is None else islice(wanted, options.limit))
    metadata: dict[str, Any] = {"resourceVersion": str(state.revision)}
    if options.limit is not None and len(chosen) == options.limit and chosen[-1] != paths[-1]:
        # What follows need not be selected: the last page may be empty.
        metadata["continue"] = Continuation(state.revision, chosen[-1]).token()
        if selection.is_everything:
            metadata["remainingItemCount"] = len(paths) - len(chosen)
    return Page([state.objects[path] for path in chosen], metadata)


def _state(storage: Storage, kind: Kind, options: ListOptions) -> State:
    """The state that the list shows."""
    resource, asked = kind.stored_as, options.resource_version
    if options.continuation is not None and options.continuation.revision != INCONSISTENT:
        state = storage.past_state(resource, options.continuation.revision)
        if state is None:
            token = Continuation(INCONSISTENT, options.continuation.after).token()
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
    details = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return RefusedError(Response(504, status_body(504, "Timeout", message, details), {"retry-after": "1"}))
