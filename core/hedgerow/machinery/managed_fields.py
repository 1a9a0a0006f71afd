"""Field managers: which client last wrote a field of a stored object.

Source: Kubernetes documentation, "Server-Side Apply", field management and `metadata.managedFields`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest

FIELD_MANAGER: Final = "hedgerow"
"""Name under which this project writes. API servers take it from the user agent of a request, up to the slash."""


def field(name: str) -> str:
    """The step of a path in `fieldsV1` that leads to a member of an object."""
    return f"f:{name}"


def item(**keys: str) -> str:
    """The step of a path in `fieldsV1` that leads to an item of a list whose items are told apart by keys."""
    return f"k:{json.dumps(keys, separators=(',', ':'), sort_keys=True)}"


def managers_of(live: Manifest, path: tuple[str, ...]) -> frozenset[str]:
    """The managers that own a field; none where the server keeps no record of it."""
    return frozenset(str(entry.get("manager") or "") for entry in _entries(live) if _holds(entry.get("fieldsV1"), path))


def _entries(live: Manifest) -> Iterator[Mapping[str, Any]]:
    metadata = live.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            yield entry


def _holds(fields: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        if not isinstance(fields, Mapping) or step not in fields:
            return False
        fields = fields[step]
    return True
