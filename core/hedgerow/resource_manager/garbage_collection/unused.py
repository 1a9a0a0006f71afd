"""Which ConfigMaps and Secrets nothing refers to any more.

Only what carries the label may ever be deleted, and nothing that is younger than it takes to write the user that it was
made for. Decides over metadata alone: what a user refers to is what its annotations say.

Source: managed-resources §15.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from hedgerow.api.kubernetes import (
    CONFIG_MAPS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    OLD_CRON_JOBS,
    PODS,
    SECRETS,
    STATEFUL_SETS,
)
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES
from hedgerow.api.reference_annotations import CONFIG_MAP, SECRET, kind_from_annotation_key
from hedgerow.machinery.objects import (
    Manifest,
    Resource,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Delete
from hedgerow.machinery.scalars import parse_timestamp

MINIMUM_LIFETIME: Final = timedelta(minutes=10)
REASON: Final = "unreferenced"

CANDIDATES: Final = (SECRETS, CONFIG_MAPS)
"""What garbage is looked for among."""

_USERS: Final = (
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    PODS,
    CRON_JOBS,
    MANAGED_RESOURCES,
)


def user_resources(*, old_cron_jobs: bool) -> tuple[Resource, ...]:
    """The resources whose objects count as users.

    Args:
        old_cron_jobs: whether the target's API server still serves them.
    """
    return (*_USERS, OLD_CRON_JOBS) if old_cron_jobs else _USERS


def plan_gc(
    *,
    secrets: Iterable[Manifest],
    config_maps: Iterable[Manifest],
    users: Iterable[Manifest],
    now: datetime,
    min_lifetime: timedelta = MINIMUM_LIFETIME,
) -> tuple[Delete, ...]:
    """The deletions of all that nothing refers to any more, ordered by kind, namespace and name.

    What changes after it was listed is not deleted: it may have lost its label, or be another object by that name.

    Args:
        secrets: listed before the users, so that whoever began to use one of them in the meantime is among these.
        config_maps: listed before the users too.
        users: all objects of the `user_resources` in the namespaces of the candidates; a list that could not be
            completed is no list, and nothing may be planned from it.
        now: the time, aware of its time zone.
        min_lifetime: how long ago a candidate was created at least.
    """
    referenced = {
        (kind, key_of(user).namespace, name)
        for user in users
        for key, name in annotations_of(user).items()
        if (kind := kind_from_annotation_key(key))
    }
    latest = now - min_lifetime
    deletions = [
        Delete(resource, key_of(each), REASON, uid_of(each), resource_version_of(each))
        for kind, resource, manifests in ((CONFIG_MAP, CONFIG_MAPS, config_maps), (SECRET, SECRETS, secrets))
        for each in manifests
        if labels_of(each).get(GARBAGE_COLLECTABLE) == "true" and not is_terminating(each)
        if _was_created_by(latest, each) and (kind, *key_of(each)) not in referenced
    ]
    return tuple(sorted(deletions, key=lambda deletion: (deletion.resource.plural, deletion.key)))


def _was_created_by(latest: datetime, manifest: Manifest) -> bool:
    """Whether an object was there at a time; one without a time of creation is as old as can be.

    A time that cannot be read might be a recent one.
    """
    created = manifest["metadata"].get("creationTimestamp")
    if created is None:
        return True
    moment = parse_timestamp(created)
    return moment is not None and moment <= latest
