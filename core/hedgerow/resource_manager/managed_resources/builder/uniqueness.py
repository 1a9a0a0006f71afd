"""How a Secret or ConfigMap gets a name that changes with what it holds.

Such an object never changes: whoever wants another content makes another object, moves its users to that one, and
leaves the old one to garbage collection.

Source: managed-resources §17.
"""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, text_at, texts_at, with_value

_HASH_LENGTH: Final = 8


def make_unique(manifest: Manifest) -> Result[Manifest, str]:
    """The Secret or ConfigMap, immutable, garbage-collectable, and named after its content; or why it cannot be.

    The content is what is stored: of a Secret the decoded data, of a ConfigMap its text and its binary data.

    Args:
        manifest: with a name, or with the beginning of one that ends with a hyphen.

    Example:
        a Secret `web` that holds `bar` as `foo` is named `web-bd142ccf`
    """
    try:
        content = _content(manifest)
        if content is None:
            return Failure(f"unhandled object type: {manifest.get('apiVersion')}/{manifest.get('kind')}")
        name = text_at(manifest, "metadata", "name") or ""
        hyphen = "" if name.endswith("-") else "-"
        unique = with_value(manifest, ("metadata", "name"), f"{name}{hyphen}{_checksum(content)[:_HASH_LENGTH]}")
        texts_at(unique, "metadata", "labels")
        unique = with_value(unique, ("metadata", "labels", GARBAGE_COLLECTABLE), "true")
    except (UnreadableError, ValueError) as error:
        return Failure(str(error))
    return Success(with_value(unique, ("immutable",), value=True))


def _content(manifest: Manifest) -> dict[str, bytes] | None:
    """The values that an object holds, by key; none for an object of another kind than those two."""
    kind = (manifest.get("apiVersion"), manifest.get("kind"))
    if kind == (SECRETS.api_version, SECRETS.kind):
        # An API server lets the plain texts win over the encoded data of the same key.
        return _values(manifest, "data", partial(b64decode, validate=True)) | _values(
            manifest, "stringData", str.encode
        )
    if kind == (CONFIG_MAPS.api_version, CONFIG_MAPS.kind):
        return _values(manifest, "data", str.encode) | _values(
            manifest, "binaryData", partial(b64decode, validate=True)
        )
    return None


def _values(manifest: Manifest, field: str, decode: Callable[[str], bytes]) -> dict[str, bytes]:
    """The decoded values of a field.

    Raises:
        UnreadableError: the field holds something else than texts.
        ValueError: a text cannot be decoded; the message names its key and does not show it.
    """
    values = {}
    for key, text in texts_at(manifest, field).items():
        try:
            values[key] = decode(text)
        except ValueError as error:
            raise ValueError(f"{field}[{key}]: must be encoded in base64") from error
    return values


def _checksum(content: Mapping[str, bytes]) -> str:
    """A hash of the values in the order of their keys, which are no part of it themselves."""
    return _hash("".join(_hash(content[key]) for key in sorted(content)).encode())


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
