"""What is shown of one value of a Secret."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure

from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.streams import documents_in_slices
from hedgerow.machinery.recording.playback import TooMuchToRedactError
from hedgerow.resource_manager.managed_resources.decoding import COMPRESSED, Decompress, decompressed
from hedgerow.resource_manager.secret_redaction.documents import is_kubeconfig, is_manifest, shown_kubeconfig
from hedgerow.resource_manager.secret_redaction.fingerprints import Fingerprints
from hedgerow.resource_manager.secret_redaction.manifests import ShowManifest

_LINE_ENDS: Final = str.maketrans("", "", "\r\n")
_SEPARATOR: Final = "---\n"
_EMPTY: Final = "# empty"
"""A document without content."""
_OTHER: Final = "noManifest"
"""The one member of what stands for a mapping that is no manifest: a mapping that is none either."""


@dataclass(frozen=True, slots=True)
class Compression:
    """How values are compressed, so that what is shown of them can be read as they are."""

    decompress: Decompress
    compress: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class FingerprintedValues:
    """The values of Secrets, and what a record shows of them."""

    fingerprints: Fingerprints
    compression: Compression
    budget: ReadingBudget
    """Limits what is read of all values together."""

    def shown(self, values: Any, manifests: ShowManifest | None) -> Any:
        """What is shown of `data`.

        Args:
            values: as they are stored, whatever shape they have.
            manifests: what is shown of the manifests in them; none: they are not meant to be such.
        """
        if not isinstance(values, Mapping):
            return self.fingerprints.of_leaves(values)
        return {name: self._encoded(name, value, manifests) for name, value in values.items()}

    def hidden(self, value: Any) -> Any:
        """What is shown of a confidential value outside of `data` and `stringData`, its names included."""
        return self.fingerprints.of_leaves(value, hides_names=True)

    def shown_texts(self, values: Any) -> Any:
        """What is shown of `stringData`."""
        if not isinstance(values, Mapping):
            return self.fingerprints.of_leaves(values)
        return {name: self._text(name, value) for name, value in values.items()}

    def _text(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return self.fingerprints.of_leaves(value)
        return self._value(name, value.encode(errors="surrogatepass"), None).decode()

    def _encoded(self, name: str, value: Any, manifests: ShowManifest | None) -> Any:
        """A value in base64; what is not in base64 does not come to be."""
        if not isinstance(value, str):
            return self.fingerprints.of_leaves(value)
        try:
            raw = b64decode(value.translate(_LINE_ENDS), validate=True)
        except ValueError:
            return self.fingerprints.of_text(value)
        return b64encode(self._value(name, raw, manifests)).decode()

    def _value(self, name: str, raw: bytes, manifests: ShowManifest | None) -> bytes:
        if manifests is None:
            return self._credentials(raw)
        if not name.endswith(COMPRESSED):
            return self._documents(raw, manifests)
        content = decompressed(raw, self.compression.decompress, self.budget)
        self._require_budget()
        if isinstance(content, Failure):
            return self.fingerprints.of(raw).encode()
        return self.compression.compress(self._documents(content.unwrap(), manifests))

    def _credentials(self, raw: bytes) -> bytes:
        """A kubeconfig without its credentials; of all else the fingerprint."""
        if b"users" in raw:
            documents = self._read(raw)
            found = [each.value for each in documents if each.value is not None]
            if len(found) == 1 and not any(each.problems for each in documents) and is_kubeconfig(found[0]):
                return json.dumps(shown_kubeconfig(found[0], self.fingerprints)).encode()
        return self.fingerprints.of(raw).encode()

    def _documents(self, raw: bytes, manifests: ShowManifest) -> bytes:
        """Manifests as they are shown, one by one; of what is none the fingerprint, which is none either."""
        documents = self._read(raw)
        if not documents:
            return self.fingerprints.of(raw).encode()
        whole = self.fingerprints.of(raw)
        shown = [whole if each.problems else self._document(each.value, manifests, whole) for each in documents]
        return "".join(f"{_SEPARATOR}{each}\n" for each in shown).encode(errors="surrogatepass")

    def _document(self, content: Any, manifests: ShowManifest, otherwise: str) -> str:
        """A document as it is shown; what decisions find wrong in it, they find wrong in what is shown."""
        if content is None:
            return _EMPTY
        if is_manifest(content):
            return json.dumps(manifests(content))
        if is_kubeconfig(content):
            return json.dumps(shown_kubeconfig(content, self.fingerprints))
        return json.dumps({_OTHER: otherwise})

    def _read(self, raw: bytes) -> tuple[Document, ...]:
        try:
            documents = finished(documents_in_slices(raw.decode("utf-8-sig"), self.budget))
        except UnicodeDecodeError:
            return ()
        self._require_budget()
        return documents

    def _require_budget(self) -> None:
        if self.budget.exceeded:
            raise TooMuchToRedactError(f"its Secrets hold {self.budget.exceeded}")
