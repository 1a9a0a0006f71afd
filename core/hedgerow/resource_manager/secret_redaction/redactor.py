"""Which fields of an object are confidential: the values of Secrets, and tokens; and marks in place of them.

Every object of the kind Secret, in any spelling and at any place, is a Secret or names one. Tables list what may be
shown of a Secret: the fields that every Secret has, and the annotations that decisions read. Tools keep copies of
Secrets in other annotations. Commands print a mark in place of a confidential value: it says whether the value changes.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNT_NAME
from hedgerow.api.tokens import INVALIDATED
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.objects import Kind, Manifest

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
    return {name: picked(member, shown.get(name, _hidden), hide) for name, member in value.items()}


def _hidden(value: Any, hide: _Hide) -> Any:
    return hide(value)


def _whole(value: Any, _hide: _Hide) -> Any:
    return value


def _scalar(value: Any, hide: _Hide) -> Any:
    return hide(value) if isinstance(value, Mapping | list) else value


def _annotations(value: Any, hide: _Hide) -> Any:
    """Shows the annotations of domains that keep no copies of Secrets."""
    if not isinstance(value, Mapping):
        return hide(value)
    shown = [
        name
        for name in value
        if name in _KNOWN_ANNOTATIONS or str(name).partition("/")[0].endswith(("gardener.cloud", "hedgerow.dev"))
    ]
    return {name: text if name in shown else hide(text) for name, text in value.items()}


_KNOWN_ANNOTATIONS: Final = (SERVICE_ACCOUNT_NAME, "kubernetes.io/service-account.uid")
_METADATA: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "generation", "labels", "finalizers"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "managedFields"),
)
_REFERENCE: Final = (
    *("name", "namespace", "uid", "resourceVersion"),
    *("labels", "fieldPath", "controller", "blockOwnerDeletion"),
)
_OF_SECRETS: Final[Mapping[str, Shown]] = {
    **dict.fromkeys(("apiVersion", "kind", "type", "immutable"), _scalar),
    "metadata": {**dict.fromkeys(_METADATA, _whole), "annotations": _annotations},
}
_OF_REFERENCES: Final[Mapping[str, Shown]] = {
    **_OF_SECRETS,
    **dict.fromkeys(_REFERENCE, _whole),
    "annotations": _annotations,
}
"""What names a Secret: an owner reference, or an entry in the status of a ManagedResource."""


class Redactor(ABC):
    """Replaces confidential values in JSON values of any shape."""

    @abstractmethod
    def hide(self, value: Any) -> Any:
        """The replacement of a confidential value outside of `data` and `stringData`."""

    @abstractmethod
    def data(self, values: Any, *, holds_manifests: bool = False) -> Any:
        """The replacement of the `data` of a Secret."""

    @abstractmethod
    def string_data(self, values: Any) -> Any:
        """The replacement of the `stringData` of a Secret."""

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
        """A Secret, or some of its fields, as it may be shown; values that are manifests stay readable."""
        return self._secret(secret, _OF_SECRETS, holds_manifests=holds_manifests)

    def with_annotations(self, manifest: Manifest) -> Manifest:
        """An object of which kubectl may keep a copy in an annotation, with annotations as those of a Secret."""
        metadata = manifest["metadata"]
        if "annotations" not in metadata:
            return manifest
        return {**manifest, "metadata": {**metadata, "annotations": _annotations(metadata["annotations"], self.hide)}}

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
                redacted[name] = picked(value, shown.get(name, _hidden), self.hide)
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


REDACTED: Final = "(redacted)"
CHANGED: Final = "(redacted, changed)"
_CLAIMS_A_KIND: Final = re.compile(r"kind\W{0,8}:", re.IGNORECASE)
_CLAIMS_A_SECRET: Final = re.compile(r"""\bkind["'\\]*\s*:\s*["'\\]*secret""", re.IGNORECASE)


def redacted(value: Any, before: Any = None, kind: Kind | None = None) -> Any:
    """A JSON value with marks; the same object if nothing in it is confidential.

    Args:
        value: the value to print.
        before: the value before a change, which marks compare, if any.
        kind: the kind of the value, if the value may lack it.
    """
    concealed = _concealed(value, kind)
    return concealed if concealed is value else _marked(concealed, _concealed(before, kind))


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A value that is not printed. Two are equal if their values are."""

    value: Any


class _MarkRedactor(Redactor):
    """Hides each value of a Secret by itself: the names of data keys are printed."""

    def data(self, values: Any, *, holds_manifests: bool = False) -> Any:  # noqa: ARG002 -- prints no manifests either
        """Hides each value but the token that the webhook has invalidated."""
        if not isinstance(values, Mapping):
            return self.hide(values)
        return {name: value if value == INVALIDATED else self.hide(value) for name, value in values.items()}

    string_data = data

    def hide(self, value: Any) -> Any:
        """Hides the value as a whole: names of fields may be confidential as well. Null tells nothing."""
        return None if value is None else _Hidden(value)

    def text(self, text: str) -> Any:
        """A text, unless it holds the manifest of a Secret in YAML or JSON, or is broken and seems to hold one."""
        if "secret" not in text.casefold() or _CLAIMS_A_KIND.search(text) is None:
            return text
        for document in stream_documents(text):
            if document.problems and _CLAIMS_A_SECRET.search(text):
                return _Hidden(text)
            if not isinstance(document.value, str) and self.redacted(document.value) != document.value:
                return _Hidden(text)
        return text


_REDACTOR: Final = _MarkRedactor()


def _concealed(value: Any, kind: Kind | None) -> Any:
    if kind == SECRETS.object_kind and isinstance(value, Mapping):
        return _REDACTOR.secret(value)
    return _REDACTOR.redacted(value)


def _marked(value: Any, before: Any) -> Any:
    if isinstance(value, _Hidden):
        return REDACTED if before is None or before == value else CHANGED
    if isinstance(value, Mapping):
        known = before if isinstance(before, Mapping) else {}
        return {name: _marked(each, known.get(name)) for name, each in value.items()}
    if isinstance(value, list):
        items = before if isinstance(before, list) else []
        return [_marked(each, items[index] if index < len(items) else None) for index, each in enumerate(value)]
    return value
