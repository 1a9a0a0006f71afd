"""Where an object of a manifest belongs, and whether it can be applied at all.

Source: managed-resources §7.4.
"""

from typing import Any, Final, NamedTuple

from hedgerow.api.references import DEFAULT_NAMESPACE
from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at, with_value, without

_NAMESPACE: Final = ("metadata", "namespace")
_REQUIRED: Final = (("apiVersion",), ("kind",), ("metadata", "name"))


class Normalised(NamedTuple):
    """An object of a manifest in the place where it belongs."""

    manifest: Manifest
    """With a namespace exactly where its kind has one. Where there is a problem: what names the object, and no more."""
    resource: Resource | NotAnswered
    problem: str | None = None
    """Why it cannot be applied; one clause without a full stop."""


def kind_of(document: Manifest) -> Kind | None:
    """The kind that an object says it is of; none where it says none."""
    kind = Kind(_text(document, ("apiVersion",)), _text(document, ("kind",)))
    return kind if all(kind) else None


def normalised(document: Manifest, kinds: Kinds) -> Normalised:
    """The object in the namespace that it belongs to.

    An unknown kind counts as namespaced: what is looked up later as the default namespace's is found all the same.

    Args:
        document: an object of any shape.
        kinds: as which resource each kind is served.
    """
    try:
        missing = [".".join(path) for path in _REQUIRED if not text_at(document, *path)]
        named = text_at(document, *_NAMESPACE) or ""
    except UnreadableError as error:
        return _unusable(document, str(error))
    if missing:
        return _unusable(document, f"{missing[0]} is missing")
    kind = Kind.of(document)
    resource = kinds[kind]
    is_namespaced = resource.namespaced if isinstance(resource, Resource) else bool(named) or kind.kind != "Namespace"
    namespace = (named or DEFAULT_NAMESPACE) if is_namespaced else ""
    if namespace == named:
        return Normalised(document, resource)
    placed = with_value(document, _NAMESPACE, namespace) if namespace else without(document, _NAMESPACE)
    return Normalised(placed, resource)


def texts_of(document: Manifest, field: str) -> dict[str, str]:
    """The labels or annotations of an object that are texts; what else stands there keeps it from being applied."""
    try:
        entries = object_at(document, "metadata", field)
    except UnreadableError:
        return {}
    return {name: text for name, text in entries.items() if isinstance(text, str)}


def _unusable(document: Manifest, problem: str) -> Normalised:
    """What can be told of an object that cannot be looked up; all of it is of the shape that objects have."""
    manifest: dict[str, Any] = {"metadata": {}}
    for path in (*_REQUIRED, _NAMESPACE):
        if text := _text(document, path):
            manifest = with_value(manifest, path, text)
    return Normalised(manifest, NotAnswered(404, "", problem), problem)


def _text(document: Manifest, path: tuple[str, ...]) -> str:
    try:
        return text_at(document, *path) or ""
    except UnreadableError:
        return ""
