"""Stores that are replaced in one go, as tests want them."""

from collections.abc import Iterable

from hedgerow.machinery.clusters import EVERYTHING, ReadScope
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.cache import ObjectStore


def replace_all(store: ObjectStore, manifests: Iterable[Manifest], scope: ReadScope = EVERYTHING) -> list[Change]:
    """Let a scope of a store hold exactly these objects; what is different from before."""
    replacement = store.replacement(scope)
    replacement.add(manifests)
    replacement.commit()
    changes = replacement.next_changes()
    while not replacement.is_over:
        changes += replacement.next_changes()
    return changes
