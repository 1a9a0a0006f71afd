"""The controller that holds Secrets back for as long as ManagedResources need them, declared.

It sees no more of a Secret than its metadata.

Source: managed-resources §10.
"""

from typing import Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import APPLYING, MANAGED_RESOURCES, ClassFilter, transform_managed_resource
from hedgerow.api.tokens import transform_secret
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, creation_deletion_or
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.managed_resources.secret_finalizers import (
    finalizers_patch,
    is_held,
    plan,
    referenced_secrets,
)

NAME: Final = "secret"
DEFAULT_CONCURRENCY: Final = 5

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
