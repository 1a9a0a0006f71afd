"""Keeps registrations and seeds that have installations, and deployments that a registration refers to.

Source: controller-registration §5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, creation_deletion_or, own_key
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan, failed
from hedgerow.machinery.questions import ListQuestion, NotAnswered
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.registration.indexes import (
    INSTALLATIONS_BY_REGISTRATION,
    INSTALLATIONS_BY_SEED,
    REGISTRATIONS_BY_DEPLOYMENT,
)
from hedgerow.registration.installations import transform_deployment, transform_installation
from hedgerow.registration.registrations import transform_registration
from hedgerow.registration.seeds import transform_seed

DEFAULT_CONCURRENCY: Final = 5
RELEASED: Final = "released"
_TRANSFORMS: Final = {
    SEEDS: transform_seed,
    CONTROLLER_REGISTRATIONS: transform_registration,
    CONTROLLER_DEPLOYMENTS: transform_deployment,
    CONTROLLER_INSTALLATIONS: transform_installation,
}


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
    "controllerregistration-seed-finalizer",
    SEEDS,
    "core.gardener.cloud/controllerregistration",
    INSTALLATIONS_BY_SEED,
)
DEPLOYMENTS: Final = Protection(
    "controllerdeployment",
    CONTROLLER_DEPLOYMENTS,
    "core.gardener.cloud/controllerdeployment",
    REGISTRATIONS_BY_DEPLOYMENT,
)
PROTECTIONS: Final = (REGISTRATIONS, SEEDS_WITH_INSTALLATIONS, DEPLOYMENTS)


def finalizer_controller(protection: Protection, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[Protection]:
    """The controller that adds and removes the finalizer of a resource."""
    primary, dependants = protection.resource, protection.dependants
    return Controller(
        name=protection.controller,
        primary=primary,
        primary_cluster=Cluster.SOURCE,
        watches=(
            Watch(
                primary,
                _TRANSFORMS[primary],
                own_key,
                creation_deletion_or(_generation_changed),
                cluster=Cluster.SOURCE,
                is_desired_state=True,
            ),
            Watch(
                dependants.resource,
                _TRANSFORMS[dependants.resource],
                lambda manifest, _snapshot: dependants.values(manifest),
                partial(_lets_go, dependants),
                cluster=Cluster.SOURCE,
            ),
        ),
        indexes=(dependants,),
        concurrency=concurrency,
        config=protection,
        reconcile=reconcile,
        permissions=(Permission.of(primary, "patch", cluster=Cluster.SOURCE),),
    )


def _generation_changed(old: Manifest, new: Manifest) -> bool:
    generations = (each["metadata"].get("generation") for each in (old, new))
    return len({*generations}) > 1 or is_terminating(old) is not is_terminating(new)


def _lets_go(dependants: Index[ObjectKey], change: Change) -> bool:
    """True if an object depends on something no longer."""
    before, after = (set(dependants.values(each)) if each else set() for each in (change.old, change.new))
    return not before <= after


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[Protection]) -> Plan:
    """Hold one object, or let it go once nothing depends on it, which caches may show too late."""
    protection = context.config
    decided = _decided(protection, key, snapshot, snapshot.by_index(protection.dependants, key))
    if not any(action.reason == RELEASED for action in decided.actions):
        return decided
    answer = await ListQuestion(protection.dependants.resource, Cluster.SOURCE)
    if isinstance(answer, NotAnswered):
        return failed(retryable_failure(protection.dependants.resource, ObjectKey("", ""), answer.message))
    dependants = [each for each in answer.objects if key in protection.dependants.values(each)]
    return _decided(protection, key, snapshot, dependants)


def _decided(protection: Protection, key: ObjectKey, snapshot: Snapshot, dependants: Sequence[Manifest]) -> Plan:
    resource = protection.resource
    manifest = snapshot.get(resource, key, Cluster.SOURCE)
    if manifest is None:
        return Plan()
    finalizers = list_at(manifest, "metadata", "finalizers")
    is_held, is_going = protection.finalizer in finalizers, is_terminating(manifest)
    if is_held is not is_going:
        return Plan()
    if is_going and dependants:
        names = " ".join(sorted(key_of(each).name for each in dependants))
        kinds = f"{protection.dependants.resource.kind}s: [{names}]"
        problem = f'cannot remove finalizer of {resource.kind} "{key.name}" because still found {kinds}'
        return failed(retryable_failure(resource, key, problem))
    reason = RELEASED if is_going else "held"
    return Plan((with_finalizer(resource, manifest, protection.finalizer, reason, is_held=not is_going),))


def with_finalizer(resource: Resource, manifest: Manifest, finalizer: str, reason: str, *, is_held: bool) -> MergePatch:
    """The write that adds a finalizer to an object of the garden or takes it away, unless that has changed since."""
    finalizers = [each for each in list_at(manifest, "metadata", "finalizers") if each != finalizer]
    patch = {"metadata": {"finalizers": [*finalizers, *([finalizer] if is_held else ())] or None}}
    version = resource_version_of(manifest)
    return MergePatch(resource, key_of(manifest), patch, reason, version, cluster=Cluster.SOURCE)
