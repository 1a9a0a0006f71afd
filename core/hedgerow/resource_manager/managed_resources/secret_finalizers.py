"""The controller that holds Secrets back by a finalizer, lest they vanish before the ManagedResources that need them.

Decides from the metadata of the Secret and the ManagedResources that name it. What a ManagedResource's own finalizers
say, whether it is ignored, and whether it is being deleted, makes no difference: as long as it exists, it needs its
Secrets.

Source: managed-resources §10.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES, ClassFilter, transform_managed_resource
from hedgerow.api.references import readable_names
from hedgerow.api.tokens import transform_secret
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Index, Snapshot

NAME: Final = "secret"
DEFAULT_CONCURRENCY: Final = 5


@dataclass(frozen=True, slots=True)
class AddFinalizer:
    """The Secret is needed and not held yet."""

    finalizer: str
    reason: ClassVar = "referenced"


@dataclass(frozen=True, slots=True)
class RemoveFinalizer:
    """The Secret is held although nothing needs it."""

    finalizer: str
    reason: ClassVar = "unreferenced"


def plan(
    secret: Manifest | None, managed_resources: Iterable[Manifest], class_filter: ClassFilter
) -> AddFinalizer | RemoveFinalizer | None:
    """What has to change about the finalizers of a Secret; none if nothing.

    Args:
        secret: none if it does not exist any more.
        managed_resources: those that name the Secret, as an index by `referenced_secrets` finds them; others among
            them do no harm.
        class_filter: which of these count, and the finalizer. Those of other classes are for other processes to tell.
    """
    if secret is None:
        return None
    needed = any(
        key_of(secret) in referenced_secrets(each) and class_filter.is_responsible(each) for each in managed_resources
    )
    held = is_held(secret, class_filter)
    if needed == held:
        return None
    return AddFinalizer(class_filter.finalizer) if needed else RemoveFinalizer(class_filter.finalizer)


def is_held(secret: Manifest, class_filter: ClassFilter) -> bool:
    """Whether a Secret carries the finalizer of the class."""
    return class_filter.finalizer in _finalizers(secret)


def referenced_secrets(managed_resource: Manifest) -> frozenset[ObjectKey]:
    """The keys of the Secrets that a ManagedResource names, which are in its own namespace, as far as is readable."""
    namespace = key_of(managed_resource).namespace
    return frozenset(ObjectKey(namespace, name) for name in readable_names(managed_resource))


def finalizers_patch(secret: Manifest, change: AddFinalizer | RemoveFinalizer) -> MergePatch:
    """The patch that makes a change, for the very version of the Secret that it was planned for.

    A merge patch replaces the whole list, so it must not meet one to which somebody else has added.
    """
    others = [each for each in _finalizers(secret) if each != change.finalizer]
    finalizers = [*others, change.finalizer] if isinstance(change, AddFinalizer) else others
    patch = {"metadata": {"finalizers": finalizers or None}}
    version = resource_version_of(secret)
    return MergePatch(SECRETS, key_of(secret), patch, change.reason, version, cluster=Cluster.SOURCE)


def _finalizers(secret: Manifest) -> Sequence[str]:
    return list_at(secret, "metadata", "finalizers")


MANAGED_RESOURCES_BY_SECRET: Final = Index(
    "managed resources by secret", MANAGED_RESOURCES, referenced_secrets, Cluster.SOURCE
)


def secret_controller(class_filter: ClassFilter, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[ClassFilter]:
    """The controller of one class.

    Args:
        class_filter: whose ManagedResources count.
        concurrency: how many Secrets are reconciled at once.
    """

    def own_key_if_concerned(secret: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        """Nothing is to be decided about a Secret that is neither held nor named, as most are."""
        key = key_of(secret)
        concerned = is_held(secret, class_filter) or snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key)
        return (key,) if concerned else ()

    return Controller(
        name=NAME,
        primary=SECRETS,
        watches=(
            Watch(
                SECRETS,
                transform_secret,
                own_key_if_concerned,
                _is_still_there,
                metadata_only=True,
                cluster=Cluster.SOURCE,
            ),
            Watch(
                MANAGED_RESOURCES,
                transform_managed_resource,
                _secrets,
                creation_deletion_or(_spec_changed),
                cluster=Cluster.SOURCE,
                may_be_absent=True,
            ),
        ),
        indexes=(MANAGED_RESOURCES_BY_SECRET,),
        owned=None,
        concurrency=concurrency,
        config=class_filter,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        yields_to=(APPLYING,),
        permissions=(Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),),
    )


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[ClassFilter]) -> Plan:
    """Hold one Secret back, or let it go."""
    secret = snapshot.get(SECRETS, key, Cluster.SOURCE)
    change = plan(secret, snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key), context.config)
    return Plan() if secret is None or change is None else Plan((finalizers_patch(secret, change),))


def _is_still_there(change: Change) -> bool:
    return change.new is not None


def _spec_changed(old: Manifest, new: Manifest) -> bool:
    """Whether the references or the class may have changed; that deletion was asked for counts as well."""
    return _generation(old) != _generation(new)


def _generation(managed_resource: Manifest) -> object:
    return (managed_resource.get("metadata") or {}).get("generation")


def _secrets(managed_resource: Manifest, _snapshot: Snapshot) -> frozenset[ObjectKey]:
    return referenced_secrets(managed_resource)
