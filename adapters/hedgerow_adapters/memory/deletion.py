"""What a request to delete asks for, and what it means for the object's finalizers.

Source: Kubernetes documentation, "Garbage Collection" and "Finalizers".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import not_supported
from hedgerow_adapters.memory.statuses import bad_request, invalid_options

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
POLICIES: Final = ("Foreground", "Background", "Orphan", "nil")
_HELD_BY: Final = {"Orphan": ORPHAN, "Foreground": FOREGROUND}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Of which very object a deletion speaks, and what becomes of those that it owns. The grace period is ignored."""

    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""


def parse_delete_options(body: Any, query: Mapping[str, str]) -> DeleteOptions:
    """The options in the body of a deletion, or in its query; refused if they cannot be read."""
    options = {} if body is None else body
    if not isinstance(options, Mapping):
        raise bad_request("cannot read the body as DeleteOptions")
    preconditions = options.get("preconditions") or {}
    propagation = options.get("propagationPolicy") or query.get("propagationPolicy", "")
    if propagation not in ("", *POLICIES[:-1]):
        error = not_supported("propagationPolicy", propagation, POLICIES)
        raise invalid_options("DeleteOptions", (error,))
    return DeleteOptions(preconditions.get("uid"), preconditions.get("resourceVersion"), propagation)


def failed_precondition(manifest: Manifest, options: DeleteOptions) -> str | None:
    """Why the object is not the one to delete; none if it is."""
    uid, version = manifest["metadata"]["uid"], manifest["metadata"]["resourceVersion"]
    if options.uid not in (None, uid):
        return (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated"
        )
    if options.resource_version not in (None, version):
        return (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match "
            f"the ResourceVersion in record ({version}). The object might have been modified"
        )
    return None


def remaining_finalizers(present: Sequence[str], propagation: str) -> list[str]:
    """What holds an object once its deletion is asked for: the garbage collector too, if it has work first."""
    if not propagation:
        return list(present)
    others = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    return [*others, _HELD_BY[propagation]] if propagation in _HELD_BY else others
