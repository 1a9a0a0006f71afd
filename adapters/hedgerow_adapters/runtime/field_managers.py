"""Who else writes an object, as its managed fields say."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hedgerow.machinery.objects import FIELD_MANAGER, Manifest
from hedgerow.machinery.plan import Action, Delete
from hedgerow.machinery.questions import Answer, Found, ListQuestion

_STATUS = "status"


class _Entry(NamedTuple):
    manager: str
    time: str
    """In UTC, to the second; such texts compare as their times do."""


async def other_writers_of(action: Action, ask: Callable[[ListQuestion], Awaitable[Answer]]) -> tuple[str, ...]:
    """The other field managers of the object of an action; none if the API server cannot be asked.

    Asks for a list, for which a controller that watches the resource has the permission.
    """
    selector = f"metadata.name={action.key.name}"
    question = ListQuestion(
        action.resource, action.cluster, action.key.namespace, field_selector=selector, metadata_only=True
    )
    answer = await ask(question)
    subresource = "" if isinstance(action, Delete) else action.subresource
    return other_writers(answer.objects[0], subresource) if isinstance(answer, Found) and answer.objects else ()


def other_writers(manifest: Manifest, subresource: str) -> tuple[str, ...]:
    """The names of the field managers that have written an object, or its status, since this project last did.

    If this project has not written, or no other has since: those that wrote last.
    """
    entries = [*_entries(manifest, is_status=subresource == _STATUS)]
    own = max((entry.time for entry in entries if entry.manager == FIELD_MANAGER), default="")
    others = [entry for entry in entries if entry.manager != FIELD_MANAGER]
    latest = max((entry.time for entry in others), default="")
    since = own if own and latest >= own else latest
    return tuple(sorted({entry.manager for entry in others if entry.time >= since}))


def _entries(manifest: Manifest, *, is_status: bool) -> Iterator[_Entry]:
    metadata: Mapping[str, Any] = manifest.get("metadata") or {}
    for entry in metadata.get("managedFields") or ():
        manager, time = entry.get("manager"), entry.get("time")
        if manager and time and (entry.get("subresource") == _STATUS) == is_status:
            yield _Entry(str(manager), str(time))
