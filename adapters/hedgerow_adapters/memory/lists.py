"""Lists, page by page: all pages of a list show the objects as they were when the first was asked for."""

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.selection import INCONSISTENT, Continuation, ListOptions, Selection
from hedgerow_adapters.memory.statuses import TOKEN_TOO_OLD, TOO_OLD, expired, from_the_future
from hedgerow_adapters.memory.storage import State, Storage


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
            raise expired(TOKEN_TOO_OLD, Continuation(INCONSISTENT, options.continuation.after).token())
        return state
    if asked is not None and asked > storage.revision:
        raise from_the_future(asked, storage.revision)
    if options.exact and asked is not None:
        state = storage.past_state(resource, asked)
        if state is None:
            raise expired(TOO_OLD)
        return state
    return storage.state(resource)
