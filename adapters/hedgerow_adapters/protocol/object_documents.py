"""Whether an answer with success shows what was asked for: the object of a key, or a page of a list.

A gateway or a wrong address may answer 200 with a document of its own. It proves nothing: neither that a list is empty,
nor that an object lacks a field.

Pure: decides from the documents alone.

Source: Kubernetes documentation, "Kubernetes API concepts", collections; API conventions, "Types (Kinds)"; decision
"absence".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hedgerow.machinery.objects import Manifest, ObjectKey

NO_LIST: Final = "the answer to a list that is no list"


class ListPage(NamedTuple):
    """One page of a list."""

    items: Sequence[Manifest]
    continuation: str
    """Token of the next page; empty: this is the last."""
    resource_version: str
    """Empty for lists that cannot be watched."""


def list_page(body: Any) -> ListPage | None:
    """The page that an answer shows; none if it is no list of objects."""
    if not isinstance(body, Mapping) or "items" not in body:
        return None
    items, metadata = body["items"] or (), body.get("metadata") or {}
    if not isinstance(items, list | tuple) or not isinstance(metadata, Mapping):
        return None
    if not all(isinstance(item, Mapping) for item in items):
        return None
    return ListPage(items, metadata.get("continue") or "", metadata.get("resourceVersion") or "")


def is_object_of(key: ObjectKey, body: Any) -> bool:
    """True if an answer is the object of a key."""
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    return isinstance(metadata, Mapping) and (metadata.get("namespace") or "", metadata.get("name")) == key
