"""Secrets that hold objects: how objects are written into one, and how it is named after its content.

Such a Secret is immutable: for another content another Secret is made, and the garbage collector deletes the old one.
The encoding has to write equal objects as equal bytes, with sorted keys: the bytes make the name, and another name is
another roll-out.

Source: managed-resources §17.
"""

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE
from hedgerow.machinery.objects import Manifest, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, text_at, texts_at, with_value

_HASH_LENGTH: Final = 8
OPAQUE: Final = "Opaque"


def make_unique(manifest: Manifest) -> Result[Manifest, str]:
    """The Secret or ConfigMap, immutable, garbage-collectable and named after its stored content; or the error.

    A Secret `web` that holds `bar` as `foo` is named `web-bd142ccf`.
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
    """The values of a Secret or ConfigMap by key; none for other kinds."""
    decode = partial(b64decode, validate=True)
    match manifest.get("apiVersion"), manifest.get("kind"):
        case (SECRETS.api_version, SECRETS.kind):
            # An API server prefers plain texts to encoded data of the same key.
            return _values(manifest, "data", decode) | _values(manifest, "stringData", str.encode)
        case (CONFIG_MAPS.api_version, CONFIG_MAPS.kind):
            return _values(manifest, "data", str.encode) | _values(manifest, "binaryData", decode)
        case _:
            return None


def _values(manifest: Manifest, field: str, decode: Callable[[str], bytes]) -> dict[str, bytes]:
    """The decoded values of a field.

    Raises:
        UnreadableError: the field holds other values than texts.
        ValueError: a text cannot be decoded; the message names its key, not the text.
    """
    values = {}
    for key, text in texts_at(manifest, field).items():
        try:
            values[key] = decode(text)
        except ValueError as error:
            raise ValueError(f"{field}[{key}]: must be encoded in base64") from error
    return values


def _checksum(content: Mapping[str, bytes]) -> str:
    """A hash of the values, in the order of their keys, without the keys."""
    return _hash("".join(_hash(content[key]) for key in sorted(content)).encode())


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def secret_name(name: str, *, with_prefix: bool) -> str:
    """The name of the Secret of a ManagedResource, before `make_unique`."""
    return f"managedresource-{name}" if with_prefix else name


def new_secret(namespace: str, name: str, data: Mapping[str, bytes], *, with_prefix: bool) -> Manifest:
    """An immutable Secret that is named after its ManagedResource and its data, the contents of files by name.

    A prefix makes sure that no Secret of another purpose has the name.
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


def unstructured_data(name: str, objects: Sequence[Manifest]) -> dict[str, bytes]:
    """The data of a Secret that holds objects as JSON under one name, with sorted keys; empty without objects."""
    compact = partial(json.dumps, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return {name: "".join(f"\n---\n{compact(manifest)}" for manifest in objects).encode()} if objects else {}


Encode: TypeAlias = Callable[[Manifest], bytes]


def file_name(manifest: Manifest) -> str:
    """The file name of an object: `rolebinding__bar__system_reader.yaml` for RoleBinding `system:reader` in `bar`."""
    key = key_of(manifest)
    return f"{str(manifest.get('kind') or '').lower()}__{key.namespace}__{key.name.replace(':', '_')}.yaml"


class _File(NamedTuple):
    content: bytes
    manifest: Manifest | None
    """The object in it; none for a file that was added as it is."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Objects and other contents by file name; adding makes another registry."""

    encode: Encode
    _files: Mapping[str, _File] = field(default_factory=dict)

    def add(self, *objects: Manifest | None) -> Result["Registry", str]:
        """The registry with further objects, each but `None`; an error if two have the same file name."""
        files = dict(self._files)
        for manifest in objects:
            if manifest is None:
                continue
            file = file_name(manifest)
            if file in files:
                return Failure(f'duplicate filename in registry: "{file}"')
            files[file] = _File(self.encode(manifest), manifest)
        return Success(Registry(self.encode, files))

    def add_serialized(self, file: str, content: bytes) -> "Registry":
        """The registry with a file as it is, in place of one of that name."""
        return Registry(self.encode, {**self._files, file: _File(content, None)})

    def objects(self) -> dict[str, Manifest]:
        """The objects by file name, without files that were added as they are."""
        return {name: file.manifest for name, file in self._files.items() if file.manifest is not None}

    def serialized(self) -> dict[str, bytes]:
        """The files, as the data of a Secret."""
        return {name: file.content for name, file in self._files.items()}

    def __str__(self) -> str:
        """All files with their contents, by name, for people."""
        files = sorted(self.serialized().items())
        return "\n\n".join(f"* {name}:\n{content.decode(errors='replace')}" for name, content in files)
