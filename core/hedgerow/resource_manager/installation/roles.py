"""Permissions as roles and their bindings: one rule for each resource, in each place where it is needed.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hedgerow.api.kubernetes import RBAC
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.permissions import Permission

EVERYWHERE: Final = ""
"""The place of what a ClusterRoleBinding grants; other places are namespaces."""
_NAMESPACES: Final = ("", "namespaces")


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
    """The rules of roles for each place, equal for equal permissions in whatever order they come.

    Args:
        permissions: what is to be allowed, in one cluster.
        namespaces: the only ones that are looked after; none: all.
    """
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
