"""The Secrets that hold objects: how objects are written into one, and how it is named after its content.

Such a Secret never changes: whoever wants another content makes another Secret, moves its users to that one, and leaves
the old one to garbage collection. How an object is written is told to the registry. It has to write equal objects as
equal bytes, with sorted keys: the bytes make the name of the Secret, and another name is another roll-out.

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
PREFIX: Final = "managedresource-"
OPAQUE: Final = "Opaque"
_SEPARATOR: Final = "\n---\n"


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


def unstructured_data(name: str, objects: Sequence[Manifest]) -> dict[str, bytes]:
    """The data of a Secret that holds objects under the name of their ManagedResource; nothing where there are none.

    Keys are sorted, so that equal objects make equal bytes.
    """
    if not objects:
        return {}
    return {name: "".join(_SEPARATOR + _compact(manifest) for manifest in objects).encode()}


def _compact(manifest: Manifest) -> str:
    return json.dumps(manifest, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


Encode: TypeAlias = Callable[[Manifest], bytes]


def file_name(manifest: Manifest) -> str:
    """The file that an object is written to; the namespace in it is empty for an object without one.

    Example:
        `rolebinding__bar__system_reader.yaml` for the RoleBinding `system:reader` in `bar`
    """
    key = key_of(manifest)
    return f"{str(manifest.get('kind') or '').lower()}__{key.namespace}__{key.name.replace(':', '_')}.yaml"


class _File(NamedTuple):
    """What is written to a file, and the object that it came from; none for what was added as it is."""

    content: bytes
    manifest: Manifest | None


@dataclass(frozen=True, slots=True)
class Registry:
    """Objects and what has been written already, by file; adding makes another registry."""

    encode: Encode
    _files: Mapping[str, _File] = field(default_factory=dict)

    def add(self, *objects: Manifest | None) -> Result["Registry", str]:
        """The registry with further objects, or why they cannot be added: two share a file. None is skipped."""
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
        """The registry with a file as it is, in place of one by that name."""
        return Registry(self.encode, {**self._files, file: _File(content, None)})

    def objects(self) -> dict[str, Manifest]:
        """The objects by file; none for files that were added as they are."""
        return {name: file.manifest for name, file in self._files.items() if file.manifest is not None}

    def serialized(self) -> dict[str, bytes]:
        """The files, as the data of a Secret."""
        return {name: file.content for name, file in self._files.items()}

    def __str__(self) -> str:
        """Every file with its content, for people, by name."""
        files = sorted(self.serialized().items())
        return "\n\n".join(f"* {name}:\n{content.decode(errors='replace')}" for name, content in files)
