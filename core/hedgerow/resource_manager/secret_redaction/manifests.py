"""What is shown of an object: all of it, but for the values of Secrets and for tokens, wherever in it they stand.

Whatever says that its kind is Secret is one, however it is spelled and wherever it stands, or names one. Of a Secret
those fields are shown that every Secret has, and of its annotations those that decisions know: others are copies of it
that tools keep there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from hedgerow.machinery.objects import Manifest

ShowManifest: TypeAlias = Callable[[Any], Any]
"""What is shown of a manifest."""

_SECRET: Final = "secret"  # noqa: S105 -- the name of a kind
_SECRETS: Final = "secretlist"
_TOKEN_REQUEST: Final = "tokenrequest"  # noqa: S105 -- the name of a kind
_CHECKSUM: Final = "secretsDataChecksum"
_PLAIN: Final = frozenset({"apiVersion", "kind", "type", "immutable"})
_PLAIN_IN_METADATA: Final = frozenset(
    {
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "finalizers",
        "ownerReferences",
        "managedFields",
    }
)
_PLAIN_IN_REFERENCES: Final = frozenset(
    {"name", "namespace", "uid", "resourceVersion", "labels", "fieldPath", "controller", "blockOwnerDeletion"}
)
"""What names a Secret, and what ManagedResources say of one in their status."""
_KNOWN_DOMAINS: Final = ("gardener.cloud", "hedgerow.dev")
"""The ends of the domains whose annotations hold no copies."""
_KNOWN_ANNOTATION_NAMES: Final = frozenset({"kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"})
"""What Kubernetes says of a token: whose it is."""

ShowChecksum: TypeAlias = Callable[[str], str]
ShowText: TypeAlias = Callable[[str], Any]


class Values(Protocol):
    """What is shown in place of confidential values."""

    def shown(self, values: Any, manifests: ShowManifest | None) -> Any:
        """What is shown of `data`.

        Args:
            values: as they are stored, whatever shape they have.
            manifests: what is shown of the manifests in them; none: they are not meant to be such.
        """
        ...

    def shown_texts(self, values: Any) -> Any:
        """What is shown of `stringData`."""
        ...

    def hidden(self, value: Any) -> Any:
        """What is shown of any other confidential value."""
        ...


class Manifests:
    """Objects, and what is shown of them."""

    def __init__(self, values: Values, checksum: ShowChecksum = str, text: ShowText | None = None) -> None:
        """Everything that may be shown is.

        Args:
            values: what is shown of those of Secrets.
            checksum: what is shown of the checksum of several of them.
            text: what is shown of a text outside of Secrets, which may hold a manifest; none: all of it.
        """
        self._values = values
        self._checksum = checksum
        self._text = text

    def shown(self, value: Any) -> Any:
        """What is shown of a JSON value; the very same if there is nothing to hide."""
        if isinstance(value, Mapping):
            kind = _kind(value)
            if kind == _SECRET:
                return self.secret(value) if "metadata" in value else self._reference(value)
            if kind == _SECRETS:
                return {name: self._member_of_secrets(name, each) for name, each in value.items()}
            return self._members(value, hides_token=kind == _TOKEN_REQUEST)
        if isinstance(value, list | tuple):
            items = [self.shown(each) for each in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return self._text(value) if self._text is not None and isinstance(value, str) else value

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
        return {**status, "token": self._values.hidden(status["token"])} if "token" in status else status

    def _reference(self, reference: Manifest) -> Manifest:
        """What is shown of what names a Secret: what it is called, and nothing that may repeat what is in it."""
        return {name: self._member_of_reference(name, value) for name, value in reference.items()}

    def _member_of_reference(self, name: str, value: Any) -> Any:
        if name == "annotations":
            return self._annotations(value)
        return value if name in _PLAIN_IN_REFERENCES else self._member_of_secret(name, value, None)

    def _member_of_secrets(self, name: str, value: Any) -> Any:
        """What is shown of a member of a list of Secrets, which need not say that they are such."""
        if name != "items" or not isinstance(value, list):
            return self._member_of_secret(name, value, None)
        return [self.secret(each) if isinstance(each, Mapping) else self._values.hidden(each) for each in value]

    def _member_of_secret(self, name: str, value: Any, manifests: ShowManifest | None) -> Any:
        match name:
            case "data":
                return self._values.shown(value, manifests)
            case "stringData":
                return self._values.shown_texts(value)
            case "metadata":
                return self._metadata(value)
            case _:
                is_plain = name in _PLAIN and not isinstance(value, Mapping | list)
                return value if is_plain else self._values.hidden(value)

    def _metadata(self, metadata: Any) -> Any:
        if not isinstance(metadata, Mapping):
            return self._values.hidden(metadata)
        return {name: self._member_of_metadata(name, value) for name, value in metadata.items()}

    def _member_of_metadata(self, name: str, value: Any) -> Any:
        if name == "annotations":
            return self._annotations(value)
        return value if name in _PLAIN_IN_METADATA else self._values.hidden(value)

    def _annotations(self, annotations: Any) -> Any:
        if not isinstance(annotations, Mapping):
            return self._values.hidden(annotations)
        return {name: value if _is_known(name) else self._values.hidden(value) for name, value in annotations.items()}


def _kind(value: Manifest) -> str:
    """What a value says that it is; nobody knows who reads `secret` as a Secret."""
    kind = value.get("kind")
    return kind.casefold() if isinstance(kind, str) else ""


def _is_known(annotation: Any) -> bool:
    name = str(annotation)
    return name in _KNOWN_ANNOTATION_NAMES or name.partition("/")[0].endswith(_KNOWN_DOMAINS)
