"""Kinds that are one kind under several names, so that an object is found again under any of them.

Some kinds moved from one group to another, and ManagedResources may name more.

Source: managed-resources §7.5.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hedgerow.api.references import GroupKind, Identity
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import each_at, list_at, text_at, too_much

MOST_EQUIVALENT_KINDS: Final = 500
"""Kinds in `spec.equivalences`: each object may be looked for under all of them."""


def _moved(kinds: Iterable[str], *groups: str) -> tuple[frozenset[GroupKind], ...]:
    return tuple(frozenset(GroupKind(group, kind) for group in groups) for kind in kinds)


_BUILT_IN: Final = (
    *_moved(("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"), "extensions", "apps"),
    *_moved(("Ingress", "NetworkPolicy"), "extensions", "networking.k8s.io"),
    *_moved(("PodSecurityPolicy",), "extensions", "policy"),
)
"""Kinds that Kubernetes moved from group to group."""


@dataclass(frozen=True, slots=True)
class Equivalences:
    """Which kinds count as each other."""

    sets: Mapping[GroupKind, frozenset[GroupKind]]
    """For each kind with other names all its names, its own included."""

    def others(self, kind: GroupKind) -> tuple[GroupKind, ...]:
        """The other names of a kind, sorted."""
        return tuple(sorted(self.sets.get(kind, frozenset()) - {kind}))

    def find(self, wanted: Identity, known: Container[Identity]) -> Identity | None:
        """The known identity of an object: its own, or else the first under another name of its kind."""
        if wanted in known:
            return wanted
        names = (wanted.of_kind(other) for other in self.others(GroupKind(wanted.group, wanted.kind)))
        return next((name for name in names if name in known), None)


def equivalences(additional: Iterable[Iterable[GroupKind]] = ()) -> Equivalences:
    """The equivalences of Kubernetes, and those of `spec.equivalences`.

    Each additional list joins the first set that one of its members, in list order, is in; else it is a new set. From
    then on all its members are in that set.
    """
    members: list[frozenset[GroupKind]] = list(_BUILT_IN)
    place = {kind: index for index, kinds in enumerate(members) for kind in kinds}
    for kinds in map(tuple, additional):
        index = next((place[kind] for kind in kinds if kind in place), len(members))
        if index == len(members):
            members.append(frozenset())
        members[index] |= frozenset(kinds)
        place.update(dict.fromkeys(kinds, index))
    return Equivalences({kind: members[index] for kind, index in place.items()})


def equivalences_of(managed_resource: Manifest) -> Equivalences:
    """The equivalences of Kubernetes, and those that a ManagedResource declares.

    Raises:
        UnreadableError: they have a shape that no API server stores, or are too many.
    """
    kinds = list_at(managed_resource, "spec", "equivalences")
    sets = {f"spec.equivalences[{index}]": each for index, each in enumerate(kinds)}
    if sum(max(1, len(list_at(sets, place))) for place in sets) > MOST_EQUIVALENT_KINDS:
        raise too_much("spec.equivalences", "kinds", MOST_EQUIVALENT_KINDS)
    return equivalences(each_at(_group_kind, sets, place) for place in sets)


def _group_kind(kind: Manifest) -> GroupKind:
    return GroupKind(text_at(kind, "group") or "", text_at(kind, "kind") or "")
