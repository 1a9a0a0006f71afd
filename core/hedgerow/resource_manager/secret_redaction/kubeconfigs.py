"""What is shown of a kubeconfig: which clusters, contexts and users there are, and no credential.

Only the fields that are listed here are shown; of all others there is a fingerprint.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.secret_redaction.fingerprints import Fingerprints

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
