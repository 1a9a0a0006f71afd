"""What is shown of an object: all of it, but for the values of Secrets and for tokens, wherever in it they stand.

Of a Secret those fields are shown that every Secret has, and of its annotations those that decisions know: others are
copies of it that tools keep there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.disguise.values import ShowManifest, Values

_KIND: Final = "Secret"
_TOKEN_REQUEST: Final = "TokenRequest"  # noqa: S105 -- the name of a kind
_VALUES: Final = ("data", "stringData")
_CHECKSUM: Final = "secretsDataChecksum"
_PLAIN: Final = frozenset({"apiVersion", "kind", "type", "immutable"})
_KNOWN_ANNOTATIONS: Final = ("gardener.cloud", "hedgerow.dev")
"""The ends of the domains whose annotations hold no copies."""
_DIGEST_OF_METADATA: Final = "labelsAndAnnotations"

ShowChecksum: TypeAlias = Callable[[str], str]


class Manifests:
    """Objects, and what is shown of them."""

    def __init__(self, values: Values, checksum: ShowChecksum) -> None:
        """Everything that may be shown is.

        Args:
            values: what is shown of those of Secrets.
            checksum: what is shown of the checksum of several of them.
        """
        self._values = values
        self._fingerprints = values.fingerprints
        self._checksum = checksum

    def shown(self, value: Any) -> Any:
        """What is shown of a JSON value; the very same if there is nothing to hide."""
        if isinstance(value, Mapping):
            if value.get("kind") == _KIND:
                return self.secret(value) if "metadata" in value else self._reference(value)
            return self._members(value, hides_token=value.get("kind") == _TOKEN_REQUEST)
        if isinstance(value, list | tuple):
            items = [self.shown(each) for each in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return value

    def secret(self, secret: Manifest, manifests: ShowManifest | None = None) -> Manifest:
        """What is shown of a Secret, or of a change of one.

        Args:
            secret: as it is.
            manifests: what is shown of the manifests in it; none: it is not meant to hold any.
        """
        return {name: self._member_of_secret(name, value, manifests) for name, value in secret.items()}

    def token_request(self, request: Manifest) -> Manifest:
        """What is shown of a request for a token, granted or not."""
        return self._members(request, hides_token=True)

    def _members(self, value: Manifest, *, hides_token: bool) -> Manifest:
        changed = {}
        for name, old in value.items():
            if name == _CHECKSUM and isinstance(old, str):
                new: Any = self._checksum(old)
            elif hides_token and name == "status":
                new = self._granted(old)
            else:
                new = self.shown(old)
            if new is not old:
                changed[name] = new
        return {**value, **changed} if changed else value

    def _granted(self, status: Any) -> Any:
        """The status of a request for a token."""
        if not isinstance(status, Mapping):
            return status
        return {**status, "token": self._fingerprints.of_leaves(status["token"])} if "token" in status else status

    def _reference(self, reference: Manifest) -> Manifest:
        """What is shown of what names a Secret: all but what it may repeat of it."""
        shown = {name: self._member_of_secret(name, reference[name], None) for name in _VALUES if name in reference}
        if "annotations" in reference:
            shown["annotations"] = self._annotations(reference["annotations"])
        return {**reference, **shown} if shown else reference

    def _member_of_secret(self, name: str, value: Any, manifests: ShowManifest | None) -> Any:
        match name:
            case "data":
                return self._values.shown(value, manifests)
            case "stringData":
                return self._values.shown_texts(value)
            case "metadata":
                return self._metadata(value)
            case _:
                return value if name in _PLAIN else self._fingerprints.of_leaves(value)

    def _metadata(self, metadata: Any) -> Any:
        if not isinstance(metadata, Mapping):
            return self._fingerprints.of_leaves(metadata)
        shown = {**metadata}
        if "annotations" in metadata:
            shown["annotations"] = self._annotations(metadata["annotations"])
        if _DIGEST_OF_METADATA in metadata:
            shown[_DIGEST_OF_METADATA] = self._fingerprints.of_leaves(metadata[_DIGEST_OF_METADATA])
        return shown

    def _annotations(self, annotations: Any) -> Any:
        if not isinstance(annotations, Mapping):
            return self._fingerprints.of_leaves(annotations)
        return {
            name: value if _is_known(name) else self._fingerprints.of_leaves(value)
            for name, value in annotations.items()
        }


def _is_known(annotation: Any) -> bool:
    return str(annotation).partition("/")[0].endswith(_KNOWN_ANNOTATIONS)
