"""How producers write objects of any kind into one value of a Secret.

Source: managed-resources §17.
"""

import json
from collections.abc import Sequence
from typing import Final

from hedgerow.machinery.objects import Manifest

_SEPARATOR: Final = "\n---\n"


def unstructured_data(name: str, objects: Sequence[Manifest]) -> dict[str, bytes]:
    """The data of a Secret that holds objects under the name of their ManagedResource; nothing where there are none.

    Keys are sorted, so that equal objects make equal bytes.
    """
    if not objects:
        return {}
    return {name: "".join(_SEPARATOR + _compact(manifest) for manifest in objects).encode()}


def _compact(manifest: Manifest) -> str:
    return json.dumps(manifest, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
