"""The controllers that belong to the server: the end of namespaces, and the garbage collection of what is owned.

Source: Kubernetes documentation, "Garbage Collection" and "Namespaces".
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, uid_of
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.kinds.namespaces import NAMESPACES
from hedgerow_adapters.memory.options import FOREGROUND, ORPHAN, DeleteOptions
from hedgerow_adapters.memory.registry import Registry
from hedgerow_adapters.memory.served import ServedKinds
from hedgerow_adapters.memory.statuses import RefusedError


class Housekeeping:
    """Does for all kinds of a server what its controllers do."""

    def __init__(self, registry: Registry, kinds: ServedKinds) -> None:
        self._registry = registry
        self._storage = registry.storage
        self._kinds = kinds

    def step(self) -> bool:
        """Look at every namespace and every owner once; whether anything was written."""
        before = self._storage.revision
        for namespace in self._objects(NAMESPACES):
            if is_terminating(namespace):
                self._empty(namespace["metadata"]["name"])
        for kind, manifest in self._everything():
            self._collect(kind, manifest)
        for kind, manifest in self._everything():
            self._release_owner(kind, manifest)
        return self._storage.revision != before

    def _empty(self, namespace: str) -> None:
        """Delete what is in a terminating namespace; once that is gone, let go of the namespace."""
        namespaced = (kind for kind in self._kinds.with_own_objects() if kind.resource.namespaced)
        content = [(kind, key_of(manifest)) for kind in namespaced for manifest in self._objects(kind, namespace)]
        for kind, key in content:
            self._delete(kind, key)
        if not content:
            self._registry.release_namespace(ObjectKey("", namespace))

    def _collect(self, kind: Kind, manifest: Manifest) -> None:
        """Delete an object whose owners are all gone, or leave; forget those that are gone while others remain."""
        references, key = _references(manifest), key_of(manifest)
        if not references or self._storage.get(kind.stored_as, key) is None:
            return
        owners = [(reference, self._owner(reference, key.namespace)) for reference in references]
        gone = [reference for reference, owner in owners if owner is None]
        leaving = [reference for reference, owner in owners if owner is not None and _waits(owner, FOREGROUND)]
        if len(gone) + len(leaving) == len(references):
            if not is_terminating(manifest):
                self._delete(kind, key)
        elif gone:
            remaining = [reference for reference in references if reference not in gone]
            self._registry.rewrite_metadata(kind, key, {"ownerReferences": remaining})

    def _release_owner(self, kind: Kind, owner: Manifest) -> None:
        """Remove the collector's finalizer from a leaving owner whose dependents are free or gone."""
        if self._storage.get(kind.stored_as, key_of(owner)) is None:
            return
        uid = uid_of(owner)
        if _waits(owner, ORPHAN):
            for dependent_kind, dependent in self._everything():
                others = [reference for reference in _references(dependent) if reference["uid"] != uid]
                if len(others) != len(_references(dependent)):
                    changes = {"ownerReferences": others}
                    self._registry.rewrite_metadata(dependent_kind, key_of(dependent), changes)
            self._remove_finalizer(kind, owner, ORPHAN)
        elif _waits(owner, FOREGROUND) and not any(
            reference["uid"] == uid and reference.get("blockOwnerDeletion", False)
            for _, dependent in self._everything()
            for reference in _references(dependent)
        ):
            self._remove_finalizer(kind, owner, FOREGROUND)

    def _remove_finalizer(self, kind: Kind, owner: Manifest, finalizer: str) -> None:
        finalizers = [name for name in owner["metadata"]["finalizers"] if name != finalizer]
        self._registry.rewrite_metadata(kind, key_of(owner), {"finalizers": finalizers})

    def _delete(self, kind: Kind, key: ObjectKey) -> None:
        """Delete an object; one that a webhook protects stays, and is tried again with the next step."""
        with suppress(RefusedError):
            self._registry.delete(kind, key, DeleteOptions(propagation="Background"))

    def _owner(self, reference: Mapping[str, Any], namespace: str) -> Manifest | None:
        """The owner that a reference names; the reference itself where its kind is unknown, as nobody can tell."""
        kind = self._kinds.by_type.get((reference["apiVersion"], reference["kind"]))
        if kind is None:
            return {"metadata": {}}
        key = ObjectKey(namespace if kind.resource.namespaced else "", reference["name"])
        owner = self._storage.get(kind.stored_as, key)
        return owner if owner is not None and uid_of(owner) == reference["uid"] else None

    def _everything(self) -> list[tuple[Kind, Manifest]]:
        return [(kind, manifest) for kind in self._kinds.with_own_objects() for manifest in self._objects(kind)]

    def _objects(self, kind: Kind, namespace: str = "") -> list[Manifest]:
        return self._storage.state(kind.stored_as).of_namespace(namespace)


def _references(manifest: Manifest) -> list[Manifest]:
    references: list[Manifest] = manifest["metadata"].get("ownerReferences", [])
    return references


def _waits(owner: Manifest, finalizer: str) -> bool:
    return is_terminating(owner) and finalizer in owner["metadata"].get("finalizers", ())
