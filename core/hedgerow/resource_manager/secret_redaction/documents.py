"""Which documents in the Secrets of ManagedResources may be shown as manifests.

A ManagedResource may refer to any Secret, by mistake too, and nearly every text in one is a document in YAML. So only
what names itself as objects of a cluster do counts as a manifest, and everything else as the value of a Secret.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.secret_redaction.kubeconfigs import is_kubeconfig

_LIST: Final = "List"
_OF_LISTS: Final = frozenset({"apiVersion", "kind", "metadata", "items"})
_IN_METADATA_OF_LISTS: Final = frozenset({"resourceVersion", "selfLink"})


def is_manifest(document: Any) -> bool:
    """Whether a document is an object with a name, or a list of nothing but such objects."""
    if not _is_typed(document):
        return False
    return _is_list(document) if document["kind"] == _LIST else _is_object(document)


def _is_typed(document: Any) -> bool:
    return isinstance(document, Mapping) and _is_text(document.get("apiVersion")) and _is_text(document.get("kind"))


def _is_list(document: Mapping[str, Any]) -> bool:
    metadata, items = document.get("metadata", {}), document.get("items")
    return (
        document.keys() <= _OF_LISTS
        and isinstance(metadata, Mapping)
        and metadata.keys() <= _IN_METADATA_OF_LISTS
        and isinstance(items, list)
        and all(_is_typed(each) and _is_object(each) for each in items)
    )


def _is_object(document: Mapping[str, Any]) -> bool:
    metadata = document.get("metadata")
    has_name = isinstance(metadata, Mapping) and _is_text(metadata.get("name"))
    return has_name and document["kind"] != _LIST and not is_kubeconfig(document)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""
