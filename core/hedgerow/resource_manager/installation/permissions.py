"""What a process has to be allowed, as its controllers and webhooks declare it.

Decides nothing about roles: where they are, what they are called, and who holds them.

Source: managed-resources §19; webhooks-and-tokens §4.4.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from hedgerow.admission.webhook import Webhook
from hedgerow.api.kubernetes import CONFIG_MAPS, EVENTS, LEASES, NAMESPACES
from hedgerow.api.origins import CLUSTER_IDENTITY
from hedgerow.machinery.clusters import KUBE_SYSTEM, Cluster
from hedgerow.machinery.controller import Controller, Read
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.permissions import ANYTHING, Permission

CLUSTER_SCOPED_EVENTS: Final = "default"
"""The namespace of Events about objects that are in none."""


def permissions_of(
    controllers: Iterable[Controller[Any]], webhooks: Iterable[Webhook], called: Container[str]
) -> tuple[Permission, ...]:
    """What controllers and webhooks have to be allowed; one may be named more than once.

    Args:
        controllers: those that run.
        webhooks: those that are served. What they look up is read from the start, whether they are asked or not.
        called: the paths of those that API servers call; others never come to ask anything live.
    """
    return (
        *(permission for controller in controllers for permission in _of_controller(controller)),
        *(permission for webhook in webhooks for permission in _of_webhook(webhook, called)),
    )


def merged(permissions: Iterable[Permission]) -> tuple[Permission, ...]:
    """The same permissions in order, those about the same objects in one."""
    verbs: dict[Permission, set[str]] = defaultdict(set)
    for permission in permissions:
        verbs[replace(permission, verbs=())].update(permission.verbs)
    return tuple(replace(what, verbs=tuple(sorted(verbs[what]))) for what in sorted(verbs, key=_order))


def election_permissions(lease: ObjectKey) -> tuple[Permission, ...]:
    """What a process has to be allowed that competes for a Lease, and says who leads.

    A role cannot name an object that is yet to be created.
    """
    place: dict[str, Any] = {"cluster": Cluster.SOURCE, "namespace": lease.namespace}
    return (
        Permission.of(LEASES, "create", **place),
        Permission.of(LEASES, "get", "update", names=(lease.name,), **place),
        Permission.of(EVENTS, "create", **place),
    )


def identity_permissions() -> tuple[Permission, ...]:
    """What a process has to be allowed that asks its cluster for its id."""
    namespace, name = CLUSTER_IDENTITY
    return (Permission.of(CONFIG_MAPS, "get", cluster=Cluster.SOURCE, namespace=namespace, names=(name,)),)


def same_cluster_permissions() -> tuple[Permission, ...]:
    """What a process has to be allowed so that it notices when a connection leads to another cluster."""
    return tuple(Permission.of(NAMESPACES, "get", cluster=each, names=(KUBE_SYSTEM.name,)) for each in Cluster)


def concerns_anything(permission: Permission) -> bool:
    """Whether it is about whatever ManagedResources deliver, which only their authors can name."""
    return permission.plural == ANYTHING


def _order(permission: Permission) -> tuple[str, ...]:
    place = (permission.cluster.value, permission.namespace)
    return (*place, permission.group, permission.plural, *permission.names)


def _of_controller(controller: Controller[Any]) -> Iterator[Permission]:
    yield from _reading(controller.watches)
    yield from controller.permissions
    if not controller.periodic:
        yield _telling(controller)


def _of_webhook(webhook: Webhook, called: Container[str]) -> Iterator[Permission]:
    yield from _reading(webhook.reads)
    if webhook.path in called:
        yield from webhook.permissions


def _reading(reads: Iterable[Read]) -> Iterator[Permission]:
    return (
        Permission.of(read.resource, "list", "watch", cluster=read.cluster, namespace=read.namespace) for read in reads
    )


def _telling(controller: Controller[Any]) -> Permission:
    """The Events beside the objects that its keys name: its own, and those of the process about it."""
    namespace = "" if controller.primary.namespaced else CLUSTER_SCOPED_EVENTS
    return Permission.of(EVENTS, "create", cluster=controller.primary_cluster, namespace=namespace)
