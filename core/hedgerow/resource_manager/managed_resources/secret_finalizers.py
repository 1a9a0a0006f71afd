"""The controller that holds Secrets by a finalizer while ManagedResources name them.

Decides from the metadata of the Secret and the ManagedResources that name it. A ManagedResource needs its Secrets as
long as it exists, also if it is ignored or being deleted.

Source: managed-resources §10.
"""

from collections.abc import Iterable
from typing import Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES, ClassFilter, transform_managed_resource
from hedgerow.api.references import readable_names
from hedgerow.api.tokens import transform_secret
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.reading import list_at
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.managed_resources.reconciliation import spec_version

DEFAULT_CONCURRENCY: Final = 5


def finalizer_patch(
    secret: Manifest, managed_resources: Iterable[Manifest], class_filter: ClassFilter
) -> MergePatch | None:
    """The patch that adds our finalizer to a Secret that is needed, or removes it from one that is not.

    A merge patch replaces the whole list, so it requires the version that it was computed from. Of the ManagedResources
    only those count that name the Secret and are of the class.
    """
    key, own = key_of(secret), class_filter.finalizer
    needed = any(key in referenced_secrets(each) and class_filter.is_responsible(each) for each in managed_resources)
    if needed == is_held(secret, class_filter):
        return None
    others = [each for each in list_at(secret, "metadata", "finalizers") if each != own]
    patch = {"metadata": {"finalizers": [*others, own] if needed else others or None}}
    reason = "referenced" if needed else "unreferenced"
    return MergePatch(SECRETS, key, patch, reason, resource_version_of(secret), cluster=Cluster.SOURCE)


def is_held(secret: Manifest, class_filter: ClassFilter) -> bool:
    """True if a Secret has the finalizer of the class."""
    return class_filter.finalizer in list_at(secret, "metadata", "finalizers")


def referenced_secrets(managed_resource: Manifest) -> frozenset[ObjectKey]:
    """The keys of the Secrets that a ManagedResource names, without unreadable ones."""
    namespace = key_of(managed_resource).namespace
    return frozenset(ObjectKey(namespace, name) for name in readable_names(managed_resource))


MANAGED_RESOURCES_BY_SECRET: Final = Index(
    "managed resources by secret", MANAGED_RESOURCES, referenced_secrets, Cluster.SOURCE
)


def secret_controller(class_filter: ClassFilter, concurrency: int = DEFAULT_CONCURRENCY) -> Controller[ClassFilter]:
    """The controller of one class; `concurrency` Secrets are reconciled at once."""

    def own_key_if_concerned(secret: Manifest, snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        """Most Secrets are neither held nor named."""
        key = key_of(secret)
        concerned = is_held(secret, class_filter) or snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key)
        return (key,) if concerned else ()

    return Controller(
        name="secret",
        primary=SECRETS,
        watches=(
            Watch(
                SECRETS,
                transform_secret,
                own_key_if_concerned,
                lambda change: change.new is not None,
                metadata_only=True,
                cluster=Cluster.SOURCE,
            ),
            Watch(
                MANAGED_RESOURCES,
                transform_managed_resource,
                lambda managed_resource, _snapshot: referenced_secrets(managed_resource),
                creation_deletion_or(lambda old, new: spec_version(old) != spec_version(new)),
                cluster=Cluster.SOURCE,
                may_be_absent=True,
            ),
        ),
        indexes=(MANAGED_RESOURCES_BY_SECRET,),
        concurrency=concurrency,
        config=class_filter,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        yields_to=(APPLYING,),
        permissions=(Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),),
    )


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[ClassFilter]) -> Plan:
    """Add or remove the finalizer of one Secret."""
    secret = snapshot.get(SECRETS, key, Cluster.SOURCE)
    managed_resources = snapshot.by_index(MANAGED_RESOURCES_BY_SECRET, key)
    patch = secret and finalizer_patch(secret, managed_resources, context.config)
    return Plan((patch,)) if patch else Plan()
