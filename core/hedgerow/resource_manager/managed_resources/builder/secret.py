"""The Secrets that producers keep objects in.

Source: managed-resources §17.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE
from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow.machinery.reading import with_value
from hedgerow.resource_manager.managed_resources.builder.uniqueness import make_unique

PREFIX: Final = "managedresource-"
OPAQUE: Final = "Opaque"


def secret_name(name: str, *, with_prefix: bool) -> str:
    """The name that the Secret of a ManagedResource begins with; the whole of it where it is not made unique."""
    return f"{PREFIX}{name}" if with_prefix else name


def new_secret(namespace: str, name: str, data: Mapping[str, bytes], *, with_prefix: bool) -> Manifest:
    """The Secret that holds some data, named after it and immutable.

    Args:
        namespace: of the ManagedResource.
        name: of the ManagedResource.
        data: as a registry serialises it: file names to contents.
        with_prefix: whether the name is prefixed, so that no Secret of another purpose has it.
    """
    plain = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": namespace, "name": secret_name(name, with_prefix=with_prefix)},
        "type": OPAQUE,
        "data": {key: b64encode(value).decode() for key, value in data.items()},
    }
    return make_unique(plain).unwrap()


def with_labels(secret: Manifest, labels: Mapping[str, str]) -> Manifest:
    """The Secret with other labels; an immutable one stays garbage-collectable if it is."""
    kept = {}
    if secret.get("immutable") and GARBAGE_COLLECTABLE in labels_of(secret):
        kept[GARBAGE_COLLECTABLE] = labels_of(secret)[GARBAGE_COLLECTABLE]
    return with_value(secret, ("metadata", "labels"), {**labels, **kept})


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
