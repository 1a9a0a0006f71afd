"""Objects in requests: how a body or a patch becomes an object, and when the API server refuses its metadata.

Knows no kind of object and no other object. That the `test` of a JSON patch compares how a real server spells texts is
left to its sender, as requests come as values.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from returns.pipeline import is_successful

from hedgerow.machinery.names import annotation_key_problem, label_key_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow_adapters.memory.field_errors import FieldError, checked, forbidden, invalid, required, too_long
from hedgerow_adapters.memory.kinds.fields import label_errors
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import (
    ShapeError,
    flag,
    list_of,
    long_number,
    optional_text,
    structure,
    text,
    text_map,
    texts,
    time,
)
from hedgerow_adapters.memory.statuses import bad_request, unsupported_media_type, unusable_patch
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from hedgerow_adapters.protocol.requests import JSON_PATCH, MERGE_PATCH

STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_ANNOTATIONS_LIMIT: Final = 256 * 1024
_IMMUTABLE: Final = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")
_OWNER_REFERENCE: Final = structure(
    {
        "apiVersion": optional_text,
        "kind": optional_text,
        "name": optional_text,
        "uid": optional_text,
        "controller": flag,
        "blockOwnerDeletion": flag,
    }
)
_METADATA: Final = structure(
    {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion"), text),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), time),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), long_number),
        **dict.fromkeys(("labels", "annotations"), text_map),
        "ownerReferences": list_of(_OWNER_REFERENCE),
        "finalizers": texts,
    }
)


def decoded(kind: Kind, body: Any) -> Fields:
    """The object that a request's body spells, with the fields of its kind and no others.

    Raises:
        ShapeError: the body is no such object.
    """
    if not isinstance(body, Mapping):
        raise ShapeError(f"json: cannot unmarshal the body into {kind.resource.kind}")
    api_version, name = (optional_text(body.get(field), field) for field in ("apiVersion", "kind"))
    if (api_version or kind.resource.api_version) != kind.resource.api_version or (
        name or kind.resource.kind
    ) != kind.resource.kind:
        raise ShapeError(f'no kind "{name}" is registered for version "{api_version}"')
    fields: Fields = {
        "kind": kind.resource.kind,
        "apiVersion": kind.resource.api_version,
        "metadata": _METADATA(body.get("metadata"), "metadata") or {},
    }
    if kind.fields is None:
        return {**copy.deepcopy(dict(body)), **fields}
    for field, shape in kind.fields.items():
        value = shape(body.get(field), field)
        if value is not None:
            fields[field] = value
    return fields


def metadata_errors(metadata: Manifest, kind: Kind) -> Iterator[FieldError]:
    """What is wrong with the metadata of an object, by itself."""
    prefix, name = metadata.get("generateName"), metadata.get("name")
    if prefix:
        # The server looks at the prefix as if something followed it.
        yield from checked("metadata.generateName", prefix, kind.name_problem(f"{prefix.removesuffix('-')}a"))
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from checked("metadata.name", name, kind.name_problem(name))
    if "labels" in metadata:
        yield from label_errors(metadata["labels"], "metadata.labels")
    if "annotations" in metadata:
        yield from _annotation_errors(metadata["annotations"])
    if "ownerReferences" in metadata:
        yield from _owner_reference_errors(metadata["ownerReferences"])
    if "finalizers" in metadata:
        yield from _finalizer_errors(metadata["finalizers"])


def metadata_change_errors(new: Manifest, old: Manifest) -> Iterator[FieldError]:
    """What is wrong with how metadata changes."""
    if "deletionTimestamp" in old:
        added = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if added:
            listed = ", ".join(f'"{name}"' for name in added)
            yield forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}",
            )
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            yield invalid(f"metadata.{field}", new.get(field), "field is immutable")


def _annotation_errors(annotations: Mapping[str, str]) -> Iterator[FieldError]:
    for key in annotations:
        yield from checked("metadata.annotations", key, annotation_key_problem(key))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        yield too_long("metadata.annotations", _ANNOTATIONS_LIMIT)


def _owner_reference_errors(references: Sequence[Manifest]) -> Iterator[FieldError]:
    for reference in references:
        for field in ("apiVersion", "kind", "name", "uid"):
            if not reference.get(field):
                detail = "version must not be empty" if field == "apiVersion" else "must not be empty"
                yield invalid(f"metadata.ownerReferences.{field}", "", detail)
    controllers = [
        f"{reference.get('kind', '')}/{reference.get('name', '')}"
        for reference in references
        if reference.get("controller")
    ]
    for other in controllers[1:]:
        yield invalid(
            "metadata.ownerReferences",
            references,
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {other}",
        )


def _finalizer_errors(finalizers: Sequence[str]) -> Iterator[FieldError]:
    for finalizer in finalizers:
        yield from checked("metadata.finalizers", finalizer, label_key_problem(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            yield invalid(
                f"metadata.finalizers[{index}]",
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            )


def patched(document: Manifest, patch: Any, content_type: str) -> Any:
    """The document after a patch of that type; refused if the type is unknown or the patch does not apply."""
    if content_type not in (MERGE_PATCH, JSON_PATCH) or patch is None:
        raise unsupported_media_type()
    if content_type == MERGE_PATCH:
        if not isinstance(patch, Mapping):
            raise bad_request(
                "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}"
            )
        return apply_merge_patch(document, patch)
    if not isinstance(patch, list | tuple) or not all(isinstance(operation, Mapping) for operation in patch):
        raise bad_request("error decoding patch: json: cannot unmarshal into Go value of type []handlers.jsonPatchOp")
    result = apply_json_patch(document, patch)
    if not is_successful(result):
        raise unusable_patch()
    return result.unwrap()
