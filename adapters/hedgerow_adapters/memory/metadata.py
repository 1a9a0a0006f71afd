"""Objects in requests: how a body or a patch becomes an object, and when the API server refuses its metadata.

Knows no kind of object and no other object. That the `test` of a JSON patch compares how a real server spells texts is
left to its sender, as requests come as values.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from returns.pipeline import is_successful

from hedgerow.machinery.names import annotation_key_problem, label_key_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow_adapters.memory import shapes
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, required, too_long
from hedgerow_adapters.memory.field_rules import by_field, checked
from hedgerow_adapters.memory.kinds.fields import label_errors
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import ShapeError
from hedgerow_adapters.memory.statuses import bad_request, refused, unusable_patch
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from hedgerow_adapters.protocol.requests import JSON_PATCH, MERGE_PATCH

_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_ANNOTATIONS_LIMIT: Final = 256 * 1024
_IMMUTABLE: Final = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")
_OWNER: Final = ("apiVersion", "kind", "name", "uid")
_METADATA: Final = shapes.shape_of(
    {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion"), shapes.text),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), shapes.time),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), shapes.nonzero_long),
        **dict.fromkeys(("labels", "annotations"), shapes.text_map),
        "ownerReferences": [
            {
                **dict.fromkeys(_OWNER, shapes.optional_text),
                **dict.fromkeys(("controller", "blockOwnerDeletion"), shapes.flag),
            }
        ],
        "finalizers": shapes.texts,
    }
)


def decoded(kind: Kind, body: Any) -> Fields:
    """The object that a request's body spells, with the fields of its kind and no others.

    Raises:
        ShapeError: the body is no such object.
    """
    resource = kind.resource
    if not isinstance(body, Mapping):
        raise ShapeError(f"json: cannot unmarshal the body into {resource.kind}")
    api_version, name = (shapes.optional_text(body.get(field), field) for field in ("apiVersion", "kind"))
    if api_version not in (None, "", resource.api_version) or name not in (None, "", resource.kind):
        raise ShapeError(f'no kind "{name}" is registered for version "{api_version}"')
    metadata = _METADATA(body.get("metadata"), "metadata") or {}
    return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata, **kind.shape(body, "")}


def metadata_errors(metadata: Manifest, kind: Kind) -> Iterator[FieldError]:
    """What is wrong with the metadata of an object, by itself."""
    if prefix := metadata.get("generateName"):
        # The server looks at the prefix as if something followed it.
        problem = kind.name_problem(f"{prefix.removesuffix('-')}a")
        yield from () if problem is None else (invalid("metadata.generateName", prefix, problem),)
    if not metadata.get("name"):
        yield required("metadata.name", "name or generateName is required")
    yield from checked(kind.name_problem)(metadata.get("name"), "metadata.name")
    yield from _member_errors(metadata, "metadata")


def metadata_change_errors(new: Manifest, old: Manifest) -> Iterator[FieldError]:
    """What is wrong with how metadata changes."""
    added = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
    if added and "deletionTimestamp" in old:
        listed = ", ".join(f'"{name}"' for name in added)
        problem = "no new finalizers can be added if the object is being deleted, found new finalizers"
        yield forbidden("metadata.finalizers", f"{problem} []string{{{listed}}}")
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            yield invalid(f"metadata.{field}", new.get(field), "field is immutable")


def _annotation_errors(annotations: Any, path: str) -> Iterator[FieldError]:
    for key in annotations or ():
        yield from checked(annotation_key_problem)(key, path)
    if sum(len(key.encode()) + len(value.encode()) for key, value in (annotations or {}).items()) > _ANNOTATIONS_LIMIT:
        yield too_long(path, _ANNOTATIONS_LIMIT)


def _owner_reference_errors(references: Any, path: str) -> Iterator[FieldError]:
    for reference in references or ():
        for field in _OWNER:
            if not reference.get(field):
                detail = "version must not be empty" if field == "apiVersion" else "must not be empty"
                yield invalid(f"{path}.{field}", "", detail)
    first, *others = [
        f"{reference.get('kind', '')}/{reference.get('name', '')}"
        for reference in references or ()
        if reference.get("controller")
    ] or [""]
    for other in others:
        found = f'Found "true" in references for {first} and {other}'
        yield invalid(path, references, f"Only one reference can have Controller set to true. {found}")


def _finalizer_errors(finalizers: Any, path: str) -> Iterator[FieldError]:
    names = finalizers or ()
    for name in names:
        yield from checked(label_key_problem)(name, path)
    if {"orphan", "foregroundDeletion"} <= set(names):
        yield invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set")
    for index, name in enumerate(names):
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            problem = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"{path}[{index}]", name, problem)


_member_errors: Final = by_field(
    {
        "labels": label_errors,
        "annotations": _annotation_errors,
        "ownerReferences": _owner_reference_errors,
        "finalizers": _finalizer_errors,
    }
)


_UNREADABLE_PATCH: Final = "error decoding patch: json: cannot unmarshal into Go value of type"


def _without_nulls_in_lists(patch: Any) -> Any:
    if isinstance(patch, (dict, Mapping)):
        return {name: _without_nulls_in_lists(value) for name, value in patch.items()}
    return shapes.anything(patch, "")


def patched(document: Manifest, patch: Any, content_type: str) -> Any:
    """The document after a patch of that type; refused if the type is unknown or the patch does not apply."""
    if content_type not in (MERGE_PATCH, JSON_PATCH) or patch is None:
        raise refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if content_type == MERGE_PATCH:
        if not isinstance(patch, Mapping):
            raise bad_request(f"{_UNREADABLE_PATCH} map[string]interface {{}}")
        return apply_merge_patch(document, _without_nulls_in_lists(patch))
    if not isinstance(patch, list | tuple) or not all(isinstance(operation, Mapping) for operation in patch):
        raise bad_request(f"{_UNREADABLE_PATCH} []handlers.jsonPatchOp")
    result = apply_json_patch(document, patch)
    if not is_successful(result):
        raise unusable_patch()
    return result.unwrap()
