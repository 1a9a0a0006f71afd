"""The annotations by which objects say that a ConfigMap or a Secret is in use.

Source: managed-resources §1, §15, §16.
"""

import hashlib
from typing import Final

from hedgerow.resource_manager.managed_resources.names import REFERENCE_PREFIX

CONFIG_MAP: Final = "configmap"
SECRET: Final = "secret"  # noqa: S105 -- the kind as annotation keys spell it

_SEPARATOR: Final = "-"
_HASH_LENGTH: Final = 8


def annotation_key(kind: str, name: str) -> str:
    """The key of the annotation that refers to an object of that kind and name; its value is the name.

    Names are longer than keys may be, so the key holds the beginning of a hash of the name.

    Args:
        kind: in lower case, without a hyphen: `configmap`, `secret`.
        name: of the object that is referred to.

    Example:
        `annotation_key("configmap", "test-5678")` is `reference.resources.gardener.cloud/configmap-4ed34879`
    """
    return f"{REFERENCE_PREFIX}{kind}{_SEPARATOR}{hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]}"


def kind_from_annotation_key(key: str) -> str | None:
    """The kind that an annotation of this key refers to; none if it refers to nothing.

    What follows on the kind is not checked to be the hash of anything: people write such annotations too.
    """
    if not key.startswith(REFERENCE_PREFIX):
        return None
    kind, *rest = key.removeprefix(REFERENCE_PREFIX).split(_SEPARATOR)
    return kind or None if len(rest) == 1 else None
