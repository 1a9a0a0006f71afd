"""A controller with a foot in each cluster: it mirrors labelled ConfigMaps of the source into the target."""

from typing import Any, Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, key_of, labels_of, uid_of
from hedgerow.machinery.plan import Create, Delete, Event, MergePatch, Plan
from hedgerow.machinery.snapshot import Index, Snapshot

CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
MIRRORS: Final = "mirrors"
"""The namespace of the target where the mirrors are."""
_ORIGIN: Final = "origin"


def kept(manifest: Manifest) -> Manifest:
    """All of it."""
    return manifest


def own_key(manifest: Manifest, _snapshot: Snapshot) -> list[ObjectKey]:
    """The key of an object itself."""
    return [key_of(manifest)]


def origins(mirror: Manifest) -> list[ObjectKey]:
    """What an object mirrors."""
    origin = annotations_of(mirror).get(_ORIGIN)
    return [ObjectKey(*origin.split("/"))] if origin else []


BY_ORIGIN: Final = Index("by origin", CONFIG_MAPS, origins)


def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
    """One mirror for each labelled object, and an event where it is made."""
    mirrors = snapshot.by_index(BY_ORIGIN, key)
    origin = snapshot.get(CONFIG_MAPS, key, Cluster.SOURCE)
    if origin is None or "mirror" not in labels_of(origin):
        return Plan(tuple(Delete(CONFIG_MAPS, key_of(each), "origin-gone", uid_of(each)) for each in mirrors))
    if not mirrors:
        made = Event(CONFIG_MAPS, key, uid_of(origin), "Normal", "Mirrored", "there is a mirror", Cluster.SOURCE)
        return Plan((Create(CONFIG_MAPS, _mirror(origin), "mirror"),), (made,))
    (mirror,) = mirrors
    if mirror["data"] == origin["data"]:
        return Plan()
    return Plan((MergePatch(CONFIG_MAPS, key_of(mirror), {"data": origin["data"]}, "mirror"),))


def _mirror(origin: Manifest) -> dict[str, Any]:
    key = key_of(origin)
    metadata = {"namespace": MIRRORS, "name": f"{key.namespace}-{key.name}", "annotations": {_ORIGIN: str(key)}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": origin["data"]}


MIRRORING: Final = Controller(
    name="mirroring",
    primary=CONFIG_MAPS,
    watches=(
        Watch(CONFIG_MAPS, kept, own_key, cluster=Cluster.SOURCE),
        Watch(CONFIG_MAPS, kept, lambda mirror, _snapshot: origins(mirror)),
    ),
    indexes=(BY_ORIGIN,),
    owned=BY_ORIGIN,
    concurrency=2,
    config=None,
    reconcile=reconcile,
    primary_cluster=Cluster.SOURCE,
)
