"""The permissions that a process needs, as its controllers and webhooks declare them, and the roles that grant them.

There is one rule for each resource, in each place where it is needed.

Source: managed-resources §19; webhooks-and-tokens §4.4; Kubernetes documentation, "Using RBAC Authorization".
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final, TypeAlias

from hedgerow.admission.webhook import Webhook
from hedgerow.api.kubernetes import EVENTS, LEASES, NAMESPACES, RBAC
from hedgerow.machinery.clusters import ANYTHING, KUBE_SYSTEM, Cluster, Permission
from hedgerow.machinery.controller import Controller, Read
from hedgerow.machinery.objects import Manifest, ObjectKey

EVERYWHERE: Final = ""
"""The place of what a ClusterRoleBinding grants; other places are namespaces."""


def permissions_of(
    controllers: Iterable[Controller[Any]], webhooks: Iterable[Webhook], called: Container[str]
) -> tuple[Permission, ...]:
    """The permissions of controllers and webhooks, some perhaps more than once.

    Args:
        controllers: those that run.
        webhooks: those that are served. What they look up is read from the start.
        called: the paths of those that API servers call; others never ask anything live.
    """

    def reading(reads: Iterable[Read]) -> Iterator[Permission]:
        for read in reads:
            yield Permission.of(read.resource, "list", "watch", cluster=read.cluster, namespace=read.namespace)

    permissions: list[Permission] = []
    for controller in controllers:
        permissions += (*reading(controller.watches), *controller.permissions)
        if not controller.periodic:
            # Events are beside their objects, those about cluster-scoped ones in `default`.
            namespace = "" if controller.primary.namespaced else "default"
            permissions.append(Permission.of(EVENTS, "create", cluster=controller.primary_cluster, namespace=namespace))
    for webhook in webhooks:
        permissions += (*reading(webhook.reads), *(webhook.permissions if webhook.path in called else ()))
    return tuple(permissions)


def merged(permissions: Iterable[Permission]) -> tuple[Permission, ...]:
    """The same permissions in order, those about the same objects in one."""
    verbs: dict[Permission, set[str]] = defaultdict(set)
    for permission in permissions:
        verbs[replace(permission, verbs=())].update(permission.verbs)
    order = attrgetter("cluster.value", "namespace", "group", "plural", "names")
    return tuple(replace(key, verbs=tuple(sorted(verbs[key]))) for key in sorted(verbs, key=order))


def election_permissions(lease: ObjectKey) -> tuple[Permission, ...]:
    """The permissions to compete for a Lease and to say who leads; no role can name an object to be created."""
    place: dict[str, Any] = {"cluster": Cluster.SOURCE, "namespace": lease.namespace}
    return (
        Permission.of(LEASES, "create", **place),
        Permission.of(LEASES, "get", "update", names=(lease.name,), **place),
        Permission.of(EVENTS, "create", **place),
    )


def same_cluster_permissions() -> tuple[Permission, ...]:
    """The permissions to notice that a connection leads to another cluster."""
    return tuple(Permission.of(NAMESPACES, "get", cluster=each, names=(KUBE_SYSTEM.name,)) for each in Cluster)


def concerns_anything(permission: Permission) -> bool:
    """True if it is about everything that ManagedResources may deliver."""
    return permission.plural == ANYTHING


_Object: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The group, plural and names that a rule is about."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The subject that gets permissions, and the name of its roles."""

    name: str
    """The name of roles and bindings, unique in the cluster."""
    subject: Mapping[str, str]
    labels: Mapping[str, str]
    namespaces: tuple[str, ...] = ()
    """The only namespaces that the process reads; none: all."""


def rules_by_place(
    permissions: Iterable[Permission], namespaces: Sequence[str] = ()
) -> dict[str, list[dict[str, list[str]]]]:
    """The rules of roles for each place, equal for equal permissions in whatever order they come."""
    verbs: dict[str, dict[_Object, set[str]]] = defaultdict(lambda: defaultdict(set))
    for permission in permissions:
        group, plural, names = permission.group, permission.plural, permission.names
        if namespaces and not names and (group, plural) == ("", "namespaces"):
            names = tuple(namespaces)
        places: Sequence[str] = (permission.namespace,)
        if not permission.namespace and permission.namespaced:
            places = namespaces or (EVERYWHERE,)
        for place in places:
            verbs[place][group, plural, names].update(permission.verbs)
    order = {place: sorted(keys, key=lambda key: "|".join((key[0], key[1], *key[2]))) for place, keys in verbs.items()}
    return {place: [_rule(key, verbs[place][key]) for key in order[place]] for place in sorted(verbs)}


def _rule(key: _Object, verbs: Iterable[str]) -> dict[str, list[str]]:
    group, plural, names = key
    rule = {"apiGroups": [group], "resources": [plural], "verbs": sorted(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule


def roles(holder: Holder, permissions: Iterable[Permission]) -> Iterator[Manifest]:
    """The roles that grant permissions in one cluster, each before its binding."""
    for place, rules in rules_by_place(permissions, holder.namespaces).items():
        kind = "Role" if place else "ClusterRole"
        yield {**_object(kind, holder, place), "rules": rules}
        yield _binding(holder, place, kind)


def role_with(holder: Holder, rules: Sequence[Manifest]) -> Iterator[Manifest]:
    """A role with these rules, bound in every namespace that its holder reads."""
    yield {**_object("ClusterRole", holder, EVERYWHERE), "rules": list(rules)}
    for place in holder.namespaces or (EVERYWHERE,):
        yield _binding(holder, place, "ClusterRole")


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
