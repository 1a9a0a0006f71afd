"""The object to write in place of a live one. Start with `merge`; `application` one level up decides on the write."""

from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

__all__ = ["Instructions", "merge"]
