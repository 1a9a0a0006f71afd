"""What producers who wait conclude from ManagedResources: whether to wait on, and what to tell when time is up.

How long to wait, and how often to look, is not known here.

Source: managed-resources §17.
"""

import re
from collections.abc import Iterable
from typing import Final

from hedgerow.api.managed_resource_status import check, check_progressing
from hedgerow.api.managed_resources import DELETION_FAILED, DELETION_PENDING, RESOURCES_APPLIED
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of

CONFIGURATION_PROBLEM: Final = "ERR_CONFIGURATION_PROBLEM"
"""Error code of what users have to correct."""

_INVALID_OBJECT: Final = re.compile("error during apply of object .* is invalid:", re.IGNORECASE)


def health_problem(managed_resource: Manifest) -> str | None:
    """Why to wait on for a ManagedResource to be applied and healthy; none when it is."""
    return f"managed resource {key_of(managed_resource)} is not healthy" if check(managed_resource) else None


def progress_problem(managed_resource: Manifest) -> str | None:
    """Why to wait on for a ManagedResource to be healthy and rolled out; none when it is."""
    if problem := health_problem(managed_resource):
        return problem
    if check_progressing(managed_resource):
        return f"managed resource {key_of(managed_resource)} is still progressing"
    return None


def still_exists(key: ObjectKey) -> str:
    """Why to wait on for a ManagedResource to be gone."""
    return f"resource {key} still exists"


def deletion_problem(managed_resource: Manifest, timeout: str) -> str:
    """What to tell when a ManagedResource is not gone in time: what holds it up, if that is known.

    Args:
        managed_resource: as it was seen last.
        timeout: the text of the error that the waiting ended with.
    """
    applied = find(conditions_of(managed_resource), RESOURCES_APPLIED)
    if (
        applied is None
        or applied.status == ConditionStatus.TRUE
        or applied.reason not in {DELETION_PENDING, DELETION_FAILED}
    ):
        return timeout
    return f"error while waiting for all resources to be deleted: {timeout}:\n{applied.message}"


def any_of_class(managed_resources: Iterable[Manifest], resource_class: str | None) -> bool:
    """Whether one of the ManagedResources is of exactly that class; none: of one that names no class."""
    return any((each.get("spec") or {}).get("class") == resource_class for each in managed_resources)


def error_codes(text: str) -> tuple[str, ...]:
    """The codes of an error: an object that the API server takes for invalid is for users to correct."""
    return (CONFIGURATION_PROBLEM,) if _INVALID_OBJECT.search(text) else ()
