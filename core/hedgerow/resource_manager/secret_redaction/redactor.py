"""Which fields of an object are confidential: the values of Secrets, and tokens, anywhere in it.

Everything whose kind is Secret, however it is spelled and wherever it stands, is a Secret or names one. Of a Secret,
tables list what may be shown: the fields that every Secret has, and the annotations that decisions read. Tools keep
copies of Secrets in other annotations.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import SERVICE_ACCOUNT_NAME
from hedgerow.machinery.objects import Manifest

_Hide: TypeAlias = Callable[[Any], Any]
Shown: TypeAlias = "Callable[[Any, _Hide], Any] | Mapping[str, Shown] | list[Shown]"
"""What may be shown of a value: what a function returns; the listed members of an object; the items of a list."""


def picked(value: Any, shown: Shown, hide: _Hide) -> Any:
    """The value, with all hidden that may not be shown. A value of another shape is hidden."""
    if callable(shown):
        return shown(value, hide)
    if isinstance(shown, list):
        return [picked(item, shown[0], hide) for item in value] if isinstance(value, list) else hide(value)
    if not isinstance(value, Mapping):
        return hide(value)
    return {name: picked(member, shown.get(name, hidden), hide) for name, member in value.items()}


def hidden(value: Any, hide: _Hide) -> Any:
    """Nothing is shown."""
    return hide(value)


def whole(value: Any, _hide: _Hide) -> Any:
    """All of it is shown."""
    return value


def scalar(value: Any, hide: _Hide) -> Any:
    """All but an object or a list is shown."""
    return hide(value) if isinstance(value, Mapping | list) else value


def _annotations(value: Any, hide: _Hide) -> Any:
    if not isinstance(value, Mapping):
        return hide(value)
    return {name: text if _is_known(str(name)) else hide(text) for name, text in value.items()}


def _is_known(annotation: str) -> bool:
    return annotation in _KNOWN_ANNOTATIONS or annotation.partition("/")[0].endswith(_KNOWN_DOMAINS)


_KNOWN_DOMAINS: Final = ("gardener.cloud", "hedgerow.dev")
"""The ends of the domains whose annotations hold no copies."""
_KNOWN_ANNOTATIONS: Final = frozenset({SERVICE_ACCOUNT_NAME, "kubernetes.io/service-account.uid"})
_METADATA: Final = [
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
]
_REFERENCE: Final = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "fieldPath",
    "controller",
    "blockOwnerDeletion",
]

_OF_SECRETS: Final[Mapping[str, Shown]] = {
    **dict.fromkeys(("apiVersion", "kind", "type", "immutable"), scalar),
    "metadata": {**dict.fromkeys(_METADATA, whole), "annotations": _annotations},
}
_OF_REFERENCES: Final[Mapping[str, Shown]] = {
    **_OF_SECRETS,
    **dict.fromkeys(_REFERENCE, whole),
    "annotations": _annotations,
}
"""What names a Secret: an owner reference, or an entry in the status of a ManagedResource."""


class Redactor(ABC):
    """Replaces what is confidential in JSON values."""

    @abstractmethod
    def hide(self, value: Any) -> Any:
        """The replacement of a confidential value outside of `data` and `stringData`."""

    @abstractmethod
    def data(self, values: Any, *, holds_manifests: bool = False) -> Any:
        """The replacement of the `data` of a Secret, which may be of any shape."""

    @abstractmethod
    def string_data(self, values: Any) -> Any:
        """The replacement of the `stringData` of a Secret, which may be of any shape."""

    def checksum(self, checksum: str) -> str:
        """The replacement of a checksum of Secrets."""
        return checksum

    def text(self, text: str) -> Any:
        """The replacement of a text outside of Secrets, which may hold a manifest."""
        return text

    def redacted(self, value: Any) -> Any:
        """The value as it may be shown; the same object if nothing in it is confidential."""
        if isinstance(value, Mapping):
            # Nobody knows who reads `secret` as a Secret.
            match str(value.get("kind")).casefold():
                case "secret" if "metadata" in value:
                    return self.secret(value)
                case "secret":
                    return self._secret(value, _OF_REFERENCES)
                case "secretlist":
                    return {name: self._member_of_list(name, member) for name, member in value.items()}
                case kind:
                    return self._members(value, hides_token=kind == "tokenrequest")
        if isinstance(value, list | tuple):
            items = [self.redacted(item) for item in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return self.text(value) if isinstance(value, str) else value

    def secret(self, secret: Manifest, *, holds_manifests: bool = False) -> Manifest:
        """A Secret, or a change of one, as it may be shown.

        Args:
            secret: the object, or some of its fields.
            holds_manifests: true if its values are manifests, which stay readable.
        """
        return self._secret(secret, _OF_SECRETS, holds_manifests=holds_manifests)

    def token_request(self, request: Manifest) -> Manifest:
        """A request for a token, granted or not, as it may be shown."""
        return self._members(request, hides_token=True)

    def _secret(self, secret: Manifest, shown: Mapping[str, Shown], *, holds_manifests: bool = False) -> dict[str, Any]:
        redacted = {}
        for name, value in secret.items():
            if name == "data":
                redacted[name] = self.data(value, holds_manifests=holds_manifests)
            elif name == "stringData":
                redacted[name] = self.string_data(value)
            else:
                redacted[name] = picked(value, shown.get(name, hidden), self.hide)
        return redacted

    def _member_of_list(self, name: str, value: Any) -> Any:
        """A member of a SecretList, whose items need not name their kind."""
        if name != "items" or not isinstance(value, list):
            return self._secret({name: value}, _OF_SECRETS)[name]
        return [self.secret(item) if isinstance(item, Mapping) else self.hide(item) for item in value]

    def _members(self, value: Manifest, *, hides_token: bool) -> Manifest:
        changed = {}
        for name, old in value.items():
            if name == "secretsDataChecksum" and isinstance(old, str):
                new: Any = self.checksum(old)
            elif hides_token and name == "status" and isinstance(old, Mapping):
                new = {**old, "token": self.hide(old["token"])} if "token" in old else old
            else:
                new = old if hides_token and name == "status" else self.redacted(old)
            if new is not old:
                changed[name] = new
        return {**value, **changed} if changed else value
