"""Writes conditions of garden objects, whose status has several writers.

A merge patch replaces the whole list, so that it has to name the version that it is made for. Each writer says what its
own conditions are; those of the others stay.

Source: controller-registration §2, §3.5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import Condition, conditions_of, find, merge
from hedgerow.machinery.controller import Change, creation_deletion_or
from hedgerow.machinery.objects import Manifest, Resource, key_of, resource_version_of, uid_of
from hedgerow.machinery.plan import MergePatch
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion

MOST_ATTEMPTS: Final = 5
BETWEEN_WRITES: Final = 1.0
"""Seconds: what many installations change at the same time is told together."""
_CONFLICT: Final = 409


@dataclass(frozen=True, slots=True)
class CheckConfig:
    """Which objects are judged, and when."""

    seed: str = ""
    """The Seed, and its installations; empty: all."""
    sync_period: timedelta = timedelta(seconds=30)
    """An object is judged again after this time, even if nothing has changed."""
    threshold: timedelta = timedelta(0)
    """For how long extensions of a Seed that are not ready count as progressing."""


def writes_conditions_of(resource: Resource) -> tuple[Permission, ...]:
    """What `write_conditions` needs."""
    return (
        Permission.of(resource, "get", cluster=Cluster.SOURCE),
        Permission.of(resource, "patch", cluster=Cluster.SOURCE, subresource="status"),
    )


def is_creation(change: Change) -> bool:
    """The predicate of objects whose own changes, but for the first, decide nothing."""
    return change.old is None


def conditions_changed(*types: str) -> Callable[[Change], bool]:
    """The predicate of objects that come or go, and of those with another status, reason or message of a condition."""

    def content(manifest: Manifest) -> list[tuple[str, str, str] | None]:
        conditions = conditions_of(manifest)
        found = [find(conditions, condition_type) for condition_type in types]
        return [(each.status, each.reason, each.message) if each else None for each in found]

    return creation_deletion_or(lambda old, new: content(old) != content(new))


Checked: TypeAlias = Callable[[Sequence[Condition]], Sequence[Condition]]
"""The writer's own conditions, given all that the object has."""


async def write_conditions(
    resource: Resource,
    garden_object: Manifest,
    checked: Checked,
    reason: str,
    *,
    applies: Callable[[Manifest], bool] = lambda _manifest: True,
) -> str | None:
    """Store the writer's conditions unless they are there; why that failed, in the words of the API server.

    In a conflict the object is read again, and the writer asked again, if the object is still the same and `applies`.
    One that is gone needs no conditions.
    """
    key, manifest, attempts = key_of(garden_object), garden_object, 0
    while True:
        attempts += 1
        existing = conditions_of(manifest)
        conditions = merge(existing, *checked(existing))
        if conditions == existing:
            return None
        patch = {"status": {"conditions": [condition.manifest() for condition in conditions]}}
        version = resource_version_of(manifest)
        error = (await MergePatch(resource, key, patch, reason, version, "status", Cluster.SOURCE)).error
        if error is None or error.is_not_found:
            return None
        if error.code != _CONFLICT or attempts == MOST_ATTEMPTS:
            return error.message
        answer = await ObjectQuestion(resource, key, Cluster.SOURCE)
        if isinstance(answer, NotAnswered):
            return None if answer.is_not_found else answer.message
        (manifest,) = answer.objects
        if uid_of(manifest) != uid_of(garden_object) or not applies(manifest):
            return None
