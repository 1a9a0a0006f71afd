"""Which changes of objects are worth another look at the ManagedResource that they belong to.

A resync, which is an update from one version to the same, always is: it is the occasion to see what was missed.

Source: managed-resources §11.1, §13.
"""

from collections.abc import Callable

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Kind, Manifest, resource_version_of, uid_of
from hedgerow.resource_manager.health.kinds import is_skipped
from hedgerow.resource_manager.health.object_health import Healthy, NotChecked, object_health
from hedgerow.resource_manager.health.object_progress import counts_pods, object_progressing


def health_status_changed(kind: Kind) -> Callable[[Change], bool]:
    """The predicate that lets pass what may change whether objects of a kind are there and healthy.

    A kind without rules only has to be there, so no update of it passes. Another object of the same name, whose
    deletion nobody saw, is a deletion and a creation.
    """

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None or uid_of(old) != uid_of(new):
            return any(not is_skipped(version) for version in (old, new) if version is not None)
        return _is_resync(old, new) or _differs_in_health(kind, old, new)

    return passes


def _differs_in_health(kind: Kind, old: Manifest, new: Manifest) -> bool:
    before, after = object_health(kind, old), object_health(kind, new)
    if isinstance(before, NotChecked) or isinstance(after, NotChecked):
        return False
    return isinstance(before, Healthy) is not isinstance(after, Healthy)


def progress_changed(kind: Kind, pod_count_of: Callable[[Manifest], int | None]) -> Callable[[Change], bool]:
    """The predicate that lets pass what may change whether objects of a kind roll out; only updates do.

    Args:
        kind: what the objects are.
        pod_count_of: how many pods a Deployment selects now; none where nobody can tell, which counts as rolled out.
    """

    def is_progressing(version: Manifest) -> bool:
        if object_progressing(kind, version) is not None:
            return True
        return counts_pods(kind) and object_progressing(kind, version, pod_count_of(version)) is not None

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if old is None or new is None:
            return False
        return _is_resync(old, new) or is_progressing(old) is not is_progressing(new)

    return passes


def _is_resync(old: Manifest, new: Manifest) -> bool:
    return resource_version_of(old) == resource_version_of(new)
