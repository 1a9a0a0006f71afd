"""What a process has to be allowed, as its controllers and webhooks declare it, and the roles that grant it.

There is one rule for each resource, in each place where it is needed.

Source: managed-resources §19; webhooks-and-tokens §4.4; Kubernetes documentation, "Using RBAC Authorization".
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from hedgerow.admission.webhook import Webhook
from hedgerow.api.kubernetes import CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, RBAC
from hedgerow.api.origins import CLUSTER_IDENTITY
from hedgerow.machinery.clusters import ANYTHING, KUBE_SYSTEM, Cluster, Permission
from hedgerow.machinery.controller import Controller, Read
from hedgerow.machinery.objects import Manifest, ObjectKey

CLUSTER_SCOPED_EVENTS: Final = "default"
"""The namespace of Events about objects that are in none."""
EVERYWHERE: Final = ""
"""The place of what a ClusterRoleBinding grants; other places are namespaces."""
_NAMESPACES: Final = ("", "namespaces")


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


class _Object(NamedTuple):
    """What a rule is about."""

    group: str
    plural: str
    names: tuple[str, ...]

    @property
    def order(self) -> str:
        """By which rules of a role are in order."""
        return "|".join((self.group, self.plural, *self.names))


@dataclass(frozen=True, slots=True)
class Holder:
    """Who is granted something, and by which roles."""

    name: str
    """Of roles and bindings: one that nobody else in the cluster uses."""
    subject: Mapping[str, str]
    labels: Mapping[str, str]
    namespaces: tuple[str, ...] = ()
    """The only ones that are looked after; none: all."""


def rules_by_place(
    permissions: Iterable[Permission], namespaces: Sequence[str] = ()
) -> dict[str, list[dict[str, list[str]]]]:
    """The rules of roles for each place, equal for equal permissions in whatever order they come."""
    verbs: dict[str, dict[_Object, set[str]]] = defaultdict(lambda: defaultdict(set))
    for permission in permissions:
        names = permission.names
        if namespaces and not names and (permission.group, permission.plural) == _NAMESPACES:
            names = tuple(namespaces)
        for place in _places(permission, namespaces):
            verbs[place][_Object(permission.group, permission.plural, names)].update(permission.verbs)
    return {
        place: [_rule(what, verbs[place][what]) for what in sorted(verbs[place], key=lambda what: what.order)]
        for place in sorted(verbs)
    }


def roles(holder: Holder, permissions: Iterable[Permission]) -> Iterator[Manifest]:
    """The roles that grant permissions in one cluster, each before its binding."""
    for place, rules in rules_by_place(permissions, holder.namespaces).items():
        kind = "Role" if place else "ClusterRole"
        yield {**_object(kind, holder, place), "rules": rules}
        yield _binding(holder, place, kind)


def role_with(holder: Holder, rules: Sequence[Manifest]) -> Iterator[Manifest]:
    """A role with rules as they are, bound wherever its holder looks."""
    yield {**_object("ClusterRole", holder, EVERYWHERE), "rules": list(rules)}
    for place in holder.namespaces or (EVERYWHERE,):
        yield _binding(holder, place, "ClusterRole")


def _places(permission: Permission, namespaces: Sequence[str]) -> Sequence[str]:
    if permission.namespace:
        return (permission.namespace,)
    return namespaces if namespaces and permission.namespaced else (EVERYWHERE,)


def _rule(what: _Object, verbs: Iterable[str]) -> dict[str, list[str]]:
    rule = {"apiGroups": [what.group], "resources": [what.plural], "verbs": sorted(verbs)}
    return {**rule, "resourceNames": list(what.names)} if what.names else rule


def _object(kind: str, holder: Holder, place: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": holder.name, "labels": dict(holder.labels)}
    if place:
        metadata["namespace"] = place
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata}


def _binding(holder: Holder, place: str, role: str) -> Manifest:
    return {
        **_object("RoleBinding" if place else "ClusterRoleBinding", holder, place),
        "roleRef": {"apiGroup": RBAC, "kind": role, "name": holder.name},
        "subjects": [dict(holder.subject)],
    }
