"""Keeps registrations and seeds that have installations, and deployments that a registration refers to.

Source: controller-registration §5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, creation_deletion_or, own_key
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan, failed
from hedgerow.machinery.questions import ListQuestion, NotAnswered
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.registration.garden import (
    INSTALLATIONS_BY_REGISTRATION,
    INSTALLATIONS_BY_SEED,
    REGISTRATIONS_BY_DEPLOYMENT,
    garden_watch,
    named_by,
)

_RELEASED: Final = "released"


@dataclass(frozen=True, slots=True)
class Protection:
    """What keeps objects of one resource from going."""

    controller: str
    resource: Resource
    finalizer: str
    dependants: Index[ObjectKey]
    """The objects that must go first, by what they depend on."""


REGISTRATIONS: Final = Protection(
    "controllerregistration-controllerregistration-finalizer",
    CONTROLLER_REGISTRATIONS,
    "core.gardener.cloud/controllerregistration",
    INSTALLATIONS_BY_REGISTRATION,
)
SEEDS_WITH_INSTALLATIONS: Final = Protection(
    "controllerregistration-seed-finalizer", SEEDS, "core.gardener.cloud/controllerregistration", INSTALLATIONS_BY_SEED
)
DEPLOYMENTS: Final = Protection(
    "controllerdeployment",
    CONTROLLER_DEPLOYMENTS,
    "core.gardener.cloud/controllerdeployment",
    REGISTRATIONS_BY_DEPLOYMENT,
)
PROTECTIONS: Final = (REGISTRATIONS, SEEDS_WITH_INSTALLATIONS, DEPLOYMENTS)


def finalizer_controller(protection: Protection, concurrency: int = 5) -> Controller[Protection]:
    """The controller that adds and removes the finalizer of a resource."""
    primary, dependants = protection.resource, protection.dependants
    return Controller(
        name=protection.controller,
        primary=primary,
        primary_cluster=Cluster.SOURCE,
        watches=(
            garden_watch(primary, own_key, creation_deletion_or(_generation_changed), is_desired_state=True),
            garden_watch(dependants.resource, named_by(dependants), partial(_lets_go, dependants)),
        ),
        indexes=(dependants,),
        concurrency=concurrency,
        config=protection,
        reconcile=reconcile,
        permissions=(Permission.of(primary, "patch", cluster=Cluster.SOURCE),),
    )


def _generation_changed(old: Manifest, new: Manifest) -> bool:
    before, after = ((each["metadata"].get("generation"), is_terminating(each)) for each in (old, new))
    return before != after


def _lets_go(dependants: Index[ObjectKey], change: Change) -> bool:
    """True if an object depends on something no longer."""
    before, after = (set(dependants.values(each)) if each else set() for each in (change.old, change.new))
    return not before <= after


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Protection]) -> Plan:
    """Hold one object, or let it go once nothing depends on it, which caches may show too late."""
    dependants = context.config.dependants
    decided = _decided(context.config, key, snapshot, snapshot.by_index(dependants, key))
    if not any(action.reason == _RELEASED for action in decided.actions):
        return decided
    answer = await ListQuestion(
        dependants.resource, Cluster.SOURCE, keep=lambda each: each if key in dependants.values(each) else None
    )
    if isinstance(answer, NotAnswered):
        return failed(retryable_failure(dependants.resource, ObjectKey("", ""), answer.message))
    return _decided(context.config, key, snapshot, [each for each in answer.objects if key in dependants.values(each)])


def _decided(protection: Protection, key: ObjectKey, snapshot: Snapshot, dependants: Sequence[Manifest]) -> Plan:
    resource = protection.resource
    manifest = snapshot.get(resource, key, Cluster.SOURCE)
    if manifest is None:
        return Plan()
    finalizers, is_going = list_at(manifest, "metadata", "finalizers"), is_terminating(manifest)
    if (protection.finalizer in finalizers) is not is_going:
        return Plan()
    if is_going and dependants:
        names = " ".join(sorted(key_of(each).name for each in dependants))
        problem = f'cannot remove finalizer of {resource.kind} "{key.name}" because still found'
        return failed(retryable_failure(resource, key, f"{problem} {protection.dependants.resource.kind}s: [{names}]"))
    reason = _RELEASED if is_going else "held"
    return Plan((with_finalizer(resource, manifest, protection.finalizer, reason, is_held=not is_going),))


def with_finalizer(resource: Resource, manifest: Manifest, finalizer: str, reason: str, *, is_held: bool) -> MergePatch:
    """The write that adds a finalizer to an object of the garden or takes it away, unless that has changed since."""
    finalizers = [each for each in list_at(manifest, "metadata", "finalizers") if each != finalizer]
    patch = {"metadata": {"finalizers": [*finalizers, *([finalizer] if is_held else ())] or None}}
    version = resource_version_of(manifest)
    return MergePatch(resource, key_of(manifest), patch, reason, version, cluster=Cluster.SOURCE)
