"""Which documents in Secrets may be shown: manifests, and kubeconfigs but for their credentials.

A ManagedResource may refer to any Secret, by mistake too, and nearly every text in one is a document in YAML. So only
what names itself as objects of a cluster do counts as a manifest, and everything else as the value of a Secret. Of a
kubeconfig only the fields that are listed here are shown, which tell what clusters, contexts and users there are.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.secret_redaction.fingerprints import Fingerprints

_LIST: Final = "List"
_OF_LISTS: Final = frozenset({"apiVersion", "kind", "metadata", "items"})
_IN_METADATA_OF_LISTS: Final = frozenset({"resourceVersion", "selfLink"})
_PLAIN: Final = frozenset({"apiVersion", "kind", "current-context"})
_ENTRIES: Final[Mapping[str, frozenset[str]]] = {
    "clusters": frozenset(
        {"certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name"}
    ),
    "contexts": frozenset({"cluster", "user", "namespace"}),
    "users": frozenset(),
}
"""The lists of a kubeconfig, and what is shown of the one thing that each of their entries names."""
_SERVER: Final = "server"
_KINDS: Final = (None, "", "Config")


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


def is_kubeconfig(content: Any) -> bool:
    """Whether a document is a kubeconfig, whole or not: as they are read here, it need not say so."""
    return isinstance(content, Mapping) and content.get("kind") in _KINDS and isinstance(content.get("users"), list)


def shown_kubeconfig(content: Mapping[str, Any], fingerprints: Fingerprints) -> dict[str, Any]:
    """A kubeconfig without its credentials."""
    return {name: _shown(name, value, fingerprints) for name, value in content.items()}


def _shown(name: str, value: Any, fingerprints: Fingerprints) -> Any:
    if name in _PLAIN and isinstance(value, str):
        return value
    if name not in _ENTRIES or not isinstance(value, list):
        return fingerprints.of_leaves(value)
    return [_shown_entry(each, _ENTRIES[name], fingerprints) for each in value]


def _shown_entry(entry: Any, plain: frozenset[str], fingerprints: Fingerprints) -> Any:
    if not isinstance(entry, Mapping):
        return fingerprints.of_leaves(entry)
    return {
        name: value if name == "name" and isinstance(value, str) else _shown_content(value, plain, fingerprints)
        for name, value in entry.items()
    }


def _shown_content(content: Any, plain: frozenset[str], fingerprints: Fingerprints) -> Any:
    if not isinstance(content, Mapping):
        return fingerprints.of_leaves(content)
    return {
        name: value if _is_plain(name, value, plain) else fingerprints.of_leaves(value)
        for name, value in content.items()
    }


def _is_plain(name: str, value: Any, plain: frozenset[str]) -> bool:
    """Whether anybody may read a value; a URL may hold a password."""
    if name == _SERVER and "certificate-authority-data" in plain:
        return isinstance(value, str) and "@" not in value and "?" not in value
    return name in plain and isinstance(value, str | bool)
