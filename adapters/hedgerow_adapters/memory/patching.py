"""What a patch request makes of an object, still unchecked.

Requests come as values: that the `test` of a JSON patch compares how a real server spells texts is left to its sender.
"""

from collections.abc import Mapping
from typing import Any

from returns.pipeline import is_successful

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow_adapters.memory.statuses import bad_request, unsupported_media_type, unusable_patch
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from hedgerow_adapters.protocol.requests import JSON_PATCH, MERGE_PATCH


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
