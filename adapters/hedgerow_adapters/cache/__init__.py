"""Objects in memory, with indexes: the snapshot that decisions read, whoever fills it."""

from hedgerow_adapters.cache.store import ObjectStore, StoreSnapshot

__all__ = ["ObjectStore", "StoreSnapshot"]
