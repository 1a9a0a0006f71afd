"""Fingerprints in place of confidential values, so that decisions read the rest as before.

Nearly every text is a document in YAML. So only an object with `apiVersion`, `kind` and a name counts as a manifest,
and everything else as a confidential value. A table lists what is shown of a kubeconfig.
"""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from returns.result import Failure

from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.streams import documents_in_slices
from hedgerow.machinery.recording.playback import TooMuchToRedactError
from hedgerow.resource_manager.managed_resources.decoding import COMPRESSED, Decompress, decompressed
from hedgerow.resource_manager.secret_redaction.redactor import Redactor, Shown, picked

_LINE_ENDS: Final = str.maketrans("", "", "\r\n")


class Fingerprints:
    """The fingerprints under one key: without it nobody can try out which value one is of."""

    def __init__(self, key: bytes) -> None:
        """Fingerprints under a key: 32 random bytes that nobody else knows."""
        self._key = key

    def of(self, value: bytes) -> str:
        """The fingerprint of bytes; empty for none."""
        return f"fingerprint-{self._digest(value)[:32]}" if value else ""

    def of_text(self, text: str) -> str:
        """The fingerprint of the bytes of a text."""
        return self.of(text.encode(errors="surrogatepass"))

    def of_checksum(self, checksum: str) -> str:
        """The fingerprint of a SHA-256 checksum, which looks like a checksum."""
        return self._digest(checksum.encode(errors="surrogatepass"))

    def of_leaves(self, value: Any, *, hides_names: bool = False) -> Any:
        """A JSON value with fingerprints in place of its scalars, and perhaps of the names of members."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, list):
            return [self.of_leaves(item, hides_names=hides_names) for item in value]
        if not isinstance(value, Mapping):
            return self.of_text(value if isinstance(value, str) else json.dumps(value))
        members = [(name, self.of_leaves(member, hides_names=hides_names)) for name, member in value.items()]
        return {self.of_text(name) if hides_names else name: member for name, member in members}

    def _digest(self, value: bytes) -> str:
        return hmac.new(self._key, value, sha256).hexdigest()


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_manifest(document: Any) -> bool:
    """True if a document is an object with a name, or a list of nothing but such objects."""
    if not (isinstance(document, Mapping) and _is_text(document.get("apiVersion")) and _is_text(document.get("kind"))):
        return False
    metadata = document.get("metadata", {})
    if not isinstance(metadata, Mapping):
        return False
    if document["kind"] != "List":
        return _is_text(metadata.get("name")) and not is_kubeconfig(document)
    items = document.get("items")
    return (
        document.keys() <= {"apiVersion", "kind", "metadata", "items"}
        and metadata.keys() <= {"resourceVersion", "selfLink"}
        and isinstance(items, list)
        and all(is_manifest(item) and item["kind"] != "List" for item in items)
    )


def is_kubeconfig(content: Any) -> bool:
    """True if a document is a kubeconfig, complete or not; it need not name its kind."""
    is_config = isinstance(content, Mapping) and content.get("kind") in (None, "", "Config")
    return is_config and isinstance(content.get("users"), list)


def _text(value: Any, hide: Callable[[Any], Any]) -> Any:
    return value if isinstance(value, str) else hide(value)


def _flag_or_text(value: Any, hide: Callable[[Any], Any]) -> Any:
    return value if isinstance(value, str | bool) else hide(value)


def _url(value: Any, hide: Callable[[Any], Any]) -> Any:
    """Shown unless it may hold a password."""
    return value if isinstance(value, str) and "@" not in value and "?" not in value else hide(value)


_AUTHORITY: Final = (
    "certificate-authority",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
)
_OF_KUBECONFIGS: Final[Mapping[str, Shown]] = {
    **dict.fromkeys(("apiVersion", "kind", "current-context"), _text),
    "clusters": [{"name": _text, "cluster": {**dict.fromkeys(_AUTHORITY, _flag_or_text), "server": _url}}],
    "contexts": [{"name": _text, "context": dict.fromkeys(("cluster", "user", "namespace"), _flag_or_text)}],
    "users": [{"name": _text}],
}


def shown_kubeconfig(content: Mapping[str, Any], fingerprints: Fingerprints) -> dict[str, Any]:
    """A kubeconfig without its credentials."""
    shown: dict[str, Any] = picked(content, _OF_KUBECONFIGS, fingerprints.of_leaves)
    return shown


@dataclass(frozen=True, slots=True)
class Compression:
    """Decompresses values, and compresses redacted ones, so that decisions can read them."""

    decompress: Decompress
    compress: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class FingerprintRedactor(Redactor):
    """Puts fingerprints in place of confidential values."""

    fingerprints: Fingerprints
    compression: Compression
    budget: ReadingBudget
    """Limits the size of all values together."""
    shown_checksum: Callable[[str], str]

    def hide(self, value: Any) -> Any:
        """The fingerprints of all scalars and names in a value."""
        return self.fingerprints.of_leaves(value, hides_names=True)

    def checksum(self, checksum: str) -> str:
        """The checksum of the redacted Secrets, or a fingerprint."""
        return self.shown_checksum(checksum)

    def data(self, values: Any, *, holds_manifests: bool = False) -> Any:
        """Values in base64, redacted one by one."""
        if not isinstance(values, Mapping):
            return self.fingerprints.of_leaves(values)
        return {name: self._encoded(name, value, holds_manifests=holds_manifests) for name, value in values.items()}

    def string_data(self, values: Any) -> Any:
        """Texts, redacted one by one."""
        if not isinstance(values, Mapping):
            return self.fingerprints.of_leaves(values)
        return {
            name: self._credentials(value.encode(errors="surrogatepass")).decode()
            if isinstance(value, str)
            else self.fingerprints.of_leaves(value)
            for name, value in values.items()
        }

    def _encoded(self, name: str, value: Any, *, holds_manifests: bool) -> Any:
        """A value in base64; a text that is not in base64 does not become base64."""
        if not isinstance(value, str):
            return self.fingerprints.of_leaves(value)
        try:
            raw = b64decode(value.translate(_LINE_ENDS), validate=True)
        except ValueError:
            return self.fingerprints.of_text(value)
        return b64encode(self._manifests(name, raw) if holds_manifests else self._credentials(raw)).decode()

    def _credentials(self, raw: bytes) -> bytes:
        """A kubeconfig without its credentials; the fingerprint of all else."""
        if b"users" in raw:
            documents = [document for document in self._read(raw) if document.problems or document.value is not None]
            if len(documents) == 1 and not documents[0].problems and is_kubeconfig(documents[0].value):
                return json.dumps(shown_kubeconfig(documents[0].value, self.fingerprints)).encode()
        return self.fingerprints.of(raw).encode()

    def _manifests(self, name: str, raw: bytes) -> bytes:
        if not name.endswith(COMPRESSED):
            return self._documents(raw)
        content = decompressed(raw, self.compression.decompress, self.budget)
        self._require_budget()
        if isinstance(content, Failure):
            return self.fingerprints.of(raw).encode()
        return self.compression.compress(self._documents(content.unwrap()))

    def _documents(self, raw: bytes) -> bytes:
        """The documents of a value, redacted one by one; the fingerprint of a value that is no text."""
        fingerprint = self.fingerprints.of(raw)
        documents = self._read(raw)
        if not documents:
            return fingerprint.encode()
        # A fingerprint is no manifest either: a broken document stays broken.
        shown = [fingerprint if each.problems else self._document(each.value, fingerprint) for each in documents]
        return "".join(f"---\n{document}\n" for document in shown).encode(errors="surrogatepass")

    def _document(self, content: Any, fingerprint: str) -> str:
        if content is None:
            return "# empty"
        if is_manifest(content):
            return json.dumps(self.redacted(content))
        if is_kubeconfig(content):
            return json.dumps(shown_kubeconfig(content, self.fingerprints))
        return json.dumps({"noManifest": fingerprint})

    def _read(self, raw: bytes) -> tuple[Document, ...]:
        """The documents of a text; none if it is no text."""
        try:
            documents = finished(documents_in_slices(raw.decode("utf-8-sig"), self.budget))
        except UnicodeDecodeError:
            return ()
        self._require_budget()
        return documents

    def _require_budget(self) -> None:
        if self.budget.exceeded:
            raise TooMuchToRedactError(f"its Secrets hold {self.budget.exceeded}")
