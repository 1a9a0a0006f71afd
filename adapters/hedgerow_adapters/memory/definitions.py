"""Definitions of custom resources take effect: what they define is served as long as they exist, and ends with them."""

from hedgerow.machinery.objects import key_of
from hedgerow_adapters.memory.kinds.custom_resources import CUSTOM_RESOURCE_DEFINITIONS, kinds_of
from hedgerow_adapters.memory.served import ServedKinds
from hedgerow_adapters.memory.storage import Storage, StoredChange


def follow_definitions(storage: Storage, served: ServedKinds) -> None:
    """Serve from now on what is defined, and nothing that no longer is; the objects go with their definition."""

    def follow(change: StoredChange) -> None:
        before = kinds_of(change.old) if change.old else []
        after = kinds_of(change.new) if change.new else []
        for kind in before:
            served.remove(kind)
        for kind in after:
            served.add(kind)
        if change.new is None:
            _forget_objects(storage, change)

    storage.listen(CUSTOM_RESOURCE_DEFINITIONS.stored_as, follow)


def _forget_objects(storage: Storage, change: StoredChange) -> None:
    for resource in {kind.stored_as for kind in kinds_of(change.old or {})}:
        state = storage.state(resource)
        for manifest in [state.objects[path] for path in state.range("")]:
            storage.remove(resource, key_of(manifest))
