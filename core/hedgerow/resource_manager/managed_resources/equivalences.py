"""Which object of the cluster a reference means, and which kinds are one kind under two names.

An object is known by group, kind, namespace and name; its version does not matter. Some kinds moved from one group to
another, and ManagedResources may name more: what was applied as one of them is found again as any other.

Source: managed-resources §7.5.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from hedgerow.machinery.objects import Manifest, key_of

DEFAULT_NAMESPACE: Final = "default"


class GroupKind(NamedTuple):
    """A kind of objects in any version."""

    group: str
    kind: str


class Identity(NamedTuple):
    """What an object is found again by. Only Namespaces have no namespace; for other kinds none is the default one."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """The key that references are sorted by: `apps/Deployment/web/nginx`, `/ConfigMap/bar/foo`."""
        return "/".join(self)

    def of_kind(self, other: GroupKind) -> "Identity":
        """The object of the same name and another kind."""
        return Identity(other.group, other.kind, self.namespace, self.name)


def group_of(api_version: str) -> str:
    """The group that an `apiVersion` names; the core group is empty."""
    return api_version.rpartition("/")[0]


def identity(group: str, kind: str, namespace: str, name: str) -> Identity:
    """The identity of an object; an absent namespace is `default`, except that of a Namespace."""
    return Identity(group, kind, namespace or ("" if kind == "Namespace" else DEFAULT_NAMESPACE), name)


def identity_of(manifest: Manifest) -> Identity:
    """The identity of an object."""
    key = key_of(manifest)
    return identity(group_of(manifest.get("apiVersion") or ""), manifest.get("kind") or "", key.namespace, key.name)


def _moved(kinds: Iterable[str], *groups: str) -> tuple[frozenset[GroupKind], ...]:
    return tuple(frozenset(GroupKind(group, kind) for group in groups) for kind in kinds)


BUILT_IN: Final = (
    *_moved(("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), "extensions", "apps"),
    *_moved(("Ingress", "NetworkPolicy"), "extensions", "networking.k8s.io"),
    *_moved(("PodSecurityPolicy",), "extensions", "policy"),
)
"""Kinds that Kubernetes moved from group to group."""


@dataclass(frozen=True, slots=True)
class Equivalences:
    """Which kinds count as each other."""

    sets: Mapping[GroupKind, frozenset[GroupKind]]
    """The set that each kind stands in, itself included; kinds that stand in none have no other name."""

    def others(self, kind: GroupKind) -> tuple[GroupKind, ...]:
        """The other names of a kind, in sorted order."""
        return tuple(sorted(self.sets.get(kind, frozenset()) - {kind}))

    def find(self, wanted: Identity, known: Container[Identity]) -> Identity | None:
        """The known identity of an object: its own, or else the first under another name of its kind.

        Args:
            wanted: the object.
            known: the identities to look it up in.
        """
        if wanted in known:
            return wanted
        names = (wanted.of_kind(other) for other in self.others(GroupKind(wanted.group, wanted.kind)))
        return next((name for name in names if name in known), None)


def equivalences(additional: Iterable[Iterable[GroupKind]] = ()) -> Equivalences:
    """What Kubernetes moved, and what a ManagedResource declares equivalent on top.

    Each further list joins the first set that one of its members, in list order, stands in; else it is a set of its
    own. All its members stand in that set from then on.

    Args:
        additional: `spec.equivalences`.
    """
    members: list[frozenset[GroupKind]] = list(BUILT_IN)
    place = {kind: index for index, kinds in enumerate(members) for kind in kinds}
    for kinds in map(tuple, additional):
        index = next((place[kind] for kind in kinds if kind in place), len(members))
        if index == len(members):
            members.append(frozenset())
        members[index] |= frozenset(kinds)
        place.update(dict.fromkeys(kinds, index))
    return Equivalences({kind: members[index] for kind, index in place.items()})
