"""What one controller sees of in-memory clusters, kept in step with them write by write, and whom that concerns.

Guarantees: when a write is answered the snapshot shows it, and the keys that it concerns have been woken. What the
controller follows is seen as soon as it is named and served, once `follow` was asked to look.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster, visible_parts
from hedgerow.machinery.controller import Change, Controller, Follow, Watch, all_keys, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.selection import selected_by
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS

Wake: TypeAlias = Callable[[ObjectKey], None]
"""Is told each key that has to be looked at."""
_Place: TypeAlias = tuple[Cluster, Resource]


def seen_by(watch: Watch, namespaces: Sequence[str]) -> Callable[[Manifest], bool]:
    """Whether an object of the watched resource is read.

    Args:
        watch: what is read.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    parts = visible_parts(watch.resource, namespaces if watch.cluster is Cluster.TARGET else (), watch.namespace)
    is_selected = selected_by(watch.label_selector, watch.field_selector)

    def is_seen(manifest: Manifest) -> bool:
        return any(part.holds(key_of(manifest)) for part in parts) and is_selected(manifest)

    return is_seen


class Mirror:
    """The stores of one controller."""

    def __init__(
        self,
        controller: Controller[Any],
        clusters: Mapping[Cluster, InMemoryCluster],
        wake: Wake,
        *,
        namespaces: Sequence[str] = (),
    ) -> None:
        """Everything that the controller declares to watch, and nothing that it follows.

        Args:
            controller: who sees it.
            clusters: what is seen.
            wake: is told the keys that a change concerns, from now on.
            namespaces: what is seen of the cluster that is looked after; none: all.
        """
        self._controller = controller
        self._clusters = clusters
        self._wake = wake
        self._namespaces = namespaces
        self._stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        self._unserved: dict[_Place, Watch] = {}
        self._followed: dict[_Place, Callable[[], None]] = {}
        """How to stop reading what is followed."""
        self._named: list[frozenset[Kind]] = [frozenset() for _ in controller.follows]
        self._is_redefined = True
        self.snapshot: Final = StoreSnapshot({}, followed=lambda cluster, resource: self._stores[cluster].get(resource))
        for watch in controller.watches:
            self._declared(watch)
        for cluster in {id(each): each for each in clusters.values()}.values():
            cluster.subscribe(CUSTOM_RESOURCE_DEFINITIONS.resource, self._redefined)

    def all_keys(self) -> list[ObjectKey]:
        """Every key that the controller has anything to do with."""
        return all_keys(self._controller, self.snapshot)

    def follow(self) -> None:
        """Look at what is named and served by now, as far as that may be different from last time."""
        is_redefined, self._is_redefined = self._is_redefined, False
        if is_redefined:
            self._begin_what_is_served()
            self._end_what_is_not_served()
        for at, follow in enumerate(self._controller.follows):
            index = follow.kinds
            named = frozenset(self._stores[index.cluster][index.resource].values_of(index))
            if named != self._named[at] or is_redefined:
                self._named[at] = named
                self._read_all(follow, named)

    def _declared(self, watch: Watch) -> None:
        place = (watch.cluster, watch.resource)
        if self._clusters[watch.cluster].serves(watch.resource):
            self._read(watch)
        else:
            self._stores[watch.cluster][watch.resource] = self._store(watch)
            self._unserved[place] = watch

    def _begin_what_is_served(self) -> None:
        for place, watch in tuple(self._unserved.items()):
            if self._clusters[watch.cluster].serves(watch.resource):
                del self._unserved[place]
                self._read(watch)

    def _end_what_is_not_served(self) -> None:
        for cluster, resource in tuple(self._followed):
            if not self._clusters[cluster].serves(resource):
                self._followed.pop((cluster, resource))()
                del self._stores[cluster][resource]

    def _read_all(self, follow: Follow, kinds: Iterable[Kind]) -> None:
        """Read the objects of kinds, and have those who name a kind look at it that was not read before."""
        for kind in sorted(kinds):
            resource = self._clusters[follow.cluster].resource_of(kind)
            watches = follow.watches(resource) if resource is not None else ()
            begun = [watch for watch in watches if self._begin(watch)]
            for watch in begun:
                self._tell(watch, [Change(None, each) for each in self._stores[watch.cluster][watch.resource].all()])
            if begun:
                self._tell_those_who_name(follow, kind)

    def _begin(self, watch: Watch) -> bool:
        """Read what is followed; false if it is read already, or not served."""
        is_read = watch.resource in self._stores[watch.cluster]
        if is_read or not self._clusters[watch.cluster].serves(watch.resource):
            return False
        self._followed[watch.cluster, watch.resource] = self._read(watch)
        return True

    def _tell_those_who_name(self, follow: Follow, kind: Kind) -> None:
        index = follow.kinds
        holders = self.snapshot.by_index(index, kind)
        for watch in self._controller.watches:
            if is_over(index, watch):
                self._tell(watch, [Change(each, each) for each in holders])

    def _read(self, watch: Watch) -> Callable[[], None]:
        """Hold the objects of a watch, and hear of their changes until the answer is called."""
        cluster, store = self._clusters[watch.cluster], self._store(watch)
        self._stores[watch.cluster][watch.resource] = store
        is_seen = seen_by(watch, self._namespaces)
        for manifest in cluster.objects(watch.resource):
            if is_seen(manifest):
                store.put(watch.transform(manifest))

        def follow_suit(change: Change) -> None:
            if change.new is not None and is_seen(change.new):
                self._tell(watch, [store.put(watch.transform(change.new))])
            elif (gone := store.remove(key_of(change.new or change.old or {}))) is not None:
                self._tell(watch, [gone])

        return cluster.subscribe(watch.resource, follow_suit)

    def _store(self, watch: Watch) -> ObjectStore:
        return ObjectStore(index for index in self._controller.indexes if is_over(index, watch))

    def _tell(self, watch: Watch, changes: Iterable[Change]) -> None:
        for change in changes:
            for key in sorted(concerned_keys(watch, change, self.snapshot)):
                self._wake(key)

    def _redefined(self, _change: Change) -> None:
        self._is_redefined = True
