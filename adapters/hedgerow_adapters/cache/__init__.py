"""Objects in memory, with indexes: the snapshot that decisions read, whoever fills it."""

from hedgerow_adapters.cache.snapshot import StoreSnapshot, is_over
from hedgerow_adapters.cache.store import ObjectStore, Replacement, UnfiledError

__all__ = ["ObjectStore", "Replacement", "StoreSnapshot", "UnfiledError", "is_over"]
