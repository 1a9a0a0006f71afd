"""What a process may do that makes the certificates of its webhooks."""

from collections.abc import Iterable
from typing import Final

from hedgerow.api.kubernetes import EVENTS, MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of

REGISTRATIONS: Final = {each.kind: each for each in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)}
"""The resources of registration objects, by kind."""


def provisioning_permissions(secret: ObjectKey, registrations: Iterable[Manifest]) -> tuple[Permission, ...]:
    """To write the Secret and what is registered, by their names.

    It may not create the Secret: by a new Secret, a process could get the token of any ServiceAccount beside it.
    """
    names: dict[Resource, list[str]] = {}
    for registration in registrations:
        names.setdefault(REGISTRATIONS[registration["kind"]], []).append(key_of(registration).name)
    return (
        Permission.of(
            SECRETS, "get", "update", cluster=Cluster.SOURCE, namespace=secret.namespace, names=(secret.name,)
        ),
        Permission.of(EVENTS, "create", cluster=Cluster.SOURCE, namespace=secret.namespace),
        *(Permission.of(resource, "get", "patch", names=tuple(each)) for resource, each in names.items()),
    )
