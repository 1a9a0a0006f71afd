"""Objects in memory, with indexes: the snapshot that decisions read, whoever fills it."""

from hedgerow_adapters.cache.store import ObjectStore, StoreSnapshot, UnfiledError, World, is_over

__all__ = ["ObjectStore", "StoreSnapshot", "UnfiledError", "World", "is_over"]
