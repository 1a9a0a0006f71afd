"""How objects leave the server: whole or as metadata only, alone or in a list."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.statuses import not_acceptable

_METADATA: Final = "as=PartialObjectMetadata"
_METADATA_LIST: Final = "as=PartialObjectMetadataList"
_META_VERSION: Final = "meta.k8s.io/v1"


def wants_metadata(accept: str, *, a_list: bool) -> bool:
    """Whether a client asked for nothing but metadata; refused if it asked for the wrong number of objects."""
    parameters = {part.strip() for part in accept.partition(",")[0].split(";")[1:]}
    if _METADATA in parameters and a_list:
        raise not_acceptable("you requested PartialObjectMetadata, but the requested object is a list")
    if _METADATA_LIST in parameters and not a_list:
        raise not_acceptable("you requested PartialObjectMetadataList, but the requested object is not a list")
    return bool(parameters & {_METADATA, _METADATA_LIST})


def presented(kind: Kind, stored: Manifest, *, metadata_only: bool) -> Manifest:
    """A stored object as a kind serves it."""
    return metadata_of(stored) if metadata_only else kind.from_stored(stored)


def metadata_of(manifest: Manifest) -> dict[str, Any]:
    """An object reduced to its metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": _META_VERSION, "metadata": manifest["metadata"]}


def presented_list(
    kind: Kind, stored: Iterable[Manifest], metadata: Mapping[str, Any], *, metadata_only: bool
) -> dict[str, Any]:
    """Stored objects as a list. Its items are without kind and apiVersion, as the server leaves them out."""
    items: list[Manifest] = [presented(kind, manifest, metadata_only=metadata_only) for manifest in stored]
    if metadata_only:
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": _META_VERSION,
            "metadata": metadata,
            "items": items,
        }
    return {
        "kind": f"{kind.resource.kind}List",
        "apiVersion": kind.resource.api_version,
        "metadata": metadata,
        "items": [_untyped(item) for item in items],
    }


def _untyped(manifest: Manifest) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name not in ("kind", "apiVersion")}
