"""Whether a Secret has to be held back by a finalizer, lest it vanish before the ManagedResource that needs it.

Decides from the Secret and the ManagedResources that name it. What a ManagedResource's own finalizers say, whether
it is ignored, and whether it is being deleted, makes no difference: as long as it exists, it needs its Secrets.

Source: managed-resources §10.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.api.references import readable_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch
from hedgerow.machinery.reading import list_at


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
