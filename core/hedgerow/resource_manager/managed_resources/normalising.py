"""Where an object of a manifest belongs, and whether it can be applied at all.

Source: managed-resources §7.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.references import DEFAULT_NAMESPACE
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import UnreadableError, object_at, text_at, with_value, without

_NAMESPACE: Final = ("metadata", "namespace")
_REQUIRED: Final = (("apiVersion",), ("kind",), ("metadata", "name"))
_NAMING: Final = (*_REQUIRED, _NAMESPACE)


@dataclass(frozen=True, slots=True)
class Normalised:
    """An object of a manifest in the place where it belongs."""

    manifest: Manifest
    """With a namespace exactly where its kind has one. Where there is a problem: what names the object, and no more."""
    kind: Kind
    key: ObjectKey
    resource: Resource | NotAnswered
    problem: str | None = None
    """Why it cannot be applied; one clause without a full stop."""


def kind_of(document: Manifest) -> Kind | None:
    """The kind that an object says it is of; none where it says none."""
    kind = Kind(_named(document, ("apiVersion",)), _named(document, ("kind",)))
    return kind if all(kind) else None


def normalised(document: Manifest, kinds: Kinds) -> Normalised:
    """The object in the namespace that it belongs to.

    An unknown kind counts as namespaced: what is looked up later as the default namespace's is found all the same.

    Args:
        document: an object of any shape.
        kinds: as which resource each kind is served.
    """
    if problem := _problem(document):
        return _unusable(document, problem)
    kind = Kind.of(document)
    resource = kinds[kind]
    named = text_at(document, *_NAMESPACE) or ""
    namespace = _namespace(kind, resource, named)
    manifest = document
    if namespace != named:
        manifest = with_value(document, _NAMESPACE, namespace) if namespace else without(document, _NAMESPACE)
    return Normalised(manifest, kind, ObjectKey(namespace, text_at(document, "metadata", "name") or ""), resource)


def texts_of(document: Manifest, field: str) -> dict[str, str]:
    """The labels or annotations of an object that are texts; what else stands there keeps it from being applied."""
    try:
        entries = object_at(document, "metadata", field)
    except UnreadableError:
        return {}
    return {name: text for name, text in entries.items() if isinstance(text, str)}


def _namespace(kind: Kind, resource: Resource | NotAnswered, named: str) -> str:
    if isinstance(resource, Resource):
        return (named or DEFAULT_NAMESPACE) if resource.namespaced else ""
    return named if kind.kind == "Namespace" else named or DEFAULT_NAMESPACE


def _problem(document: Manifest) -> str | None:
    """What keeps an object from being looked up in a cluster."""
    try:
        missing = [".".join(path) for path in _REQUIRED if not text_at(document, *path)]
        text_at(document, *_NAMESPACE)
    except UnreadableError as error:
        return str(error)
    return f"{missing[0]} is missing" if missing else None


def _unusable(document: Manifest, problem: str) -> Normalised:
    """What can be told of an object that cannot be looked up; all of it is of the shape that objects have."""
    manifest: dict[str, Any] = {"metadata": {}}
    for path in _NAMING:
        if text := _named(document, path):
            manifest = with_value(manifest, path, text)
    metadata: Mapping[str, str] = manifest["metadata"]
    key = ObjectKey(metadata.get("namespace", ""), metadata.get("name", ""))
    return Normalised(manifest, Kind.of(manifest), key, NotAnswered(404, "", problem), problem)


def _named(document: Manifest, path: tuple[str, ...]) -> str:
    try:
        return text_at(document, *path) or ""
    except UnreadableError:
        return ""
