"""What the Secrets of a ManagedResource hold, and which of it cannot be read.

A value that is no use, be it broken, or small and meant to become endless, costs one error that names its key.

Source: managed-resources §7.3, §22.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.fields import shape_of
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import object_at

COMPRESSED: Final = ".br"
"""What the keys of compressed values end in."""

MOST_DECOMPRESSED: Final = 16 * 1024 * 1024
"""Bytes that a compressed value may stand for, more than ten times of what a Secret can hold."""
MOST_ERRORS: Final = 20
"""Errors of one value that are told one by one: a status has to hold them all."""

_LINE_ENDS: Final = str.maketrans("", "", "\r\n")

Decompress: TypeAlias = Callable[[bytes, int], Result[bytes, str]]
"""What compressed bytes stand for, or why it cannot be told; the number is the most bytes that it may be."""


@dataclass(frozen=True, slots=True)
class DecodedValue:
    """One data key of a Secret."""

    raw: bytes
    """The value as it is stored, compressed if it is."""
    documents: tuple[Manifest, ...]
    """The objects in it, in their order; beyond being mappings they may be of any shape."""
    errors: tuple[str, ...]
    """What cannot be decoded, a sentence each."""


def decoded_secret(secret: Manifest, decompress: Decompress) -> tuple[DecodedValue, ...]:
    """What a Secret holds, key by key in byte order.

    Args:
        secret: whole, as it is stored.
        decompress: how values of keys that end in `.br` are decompressed.

    Raises:
        UnreadableError: the data are no mapping, which no API server stores.
    """
    data = object_at(secret, "data")
    return tuple(_decoded_value(key, data[key], _Place(key, str(key_of(secret))), decompress) for key in sorted(data))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which Secret a value stands."""

    data_key: str
    secret: str

    def error(self, index: int, cause: str) -> str:
        """The sentence about the document of that index."""
        return f"Could not decode resource at index {index} in {self}: {cause}."

    def __str__(self) -> str:
        return f"'{self.data_key}' in secret '{self.secret}'"


def _decoded_value(key: str, encoded: Any, place: _Place, decompress: Decompress) -> DecodedValue:
    stored = _raw(encoded)
    if isinstance(stored, Failure):
        return DecodedValue(b"", (), (place.error(0, f"the value {stored.failure()}"),))
    raw = stored.unwrap()
    content = decompress(raw, MOST_DECOMPRESSED) if key.endswith(COMPRESSED) else stored
    text = content.bind(_text)
    if isinstance(text, Failure):
        return DecodedValue(raw, (), (place.error(0, f"the value {text.failure()}"),))
    documents = stream_documents(text.unwrap())
    objects = tuple(each.value for each in documents if each.value is not None and not each.problems)
    return DecodedValue(raw, objects, tuple(_errors(documents, place)))


def _raw(encoded: Any) -> Result[bytes, str]:
    """The bytes of a value as it stands in the data of a Secret, maybe in lines; null is an empty one."""
    if encoded is None:
        return Success(b"")
    if not isinstance(encoded, str):
        return Failure(f"must be a string, got {shape_of(encoded)}")
    try:
        return Success(b64decode(encoded.translate(_LINE_ENDS), validate=True))
    except ValueError:
        return Failure("is not encoded in base64")


def _text(content: bytes) -> Result[str, str]:
    try:
        return Success(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Failure(f"is not UTF-8 text: it holds the byte 0x{content[error.start]:02x}")


def _errors(documents: Iterable[Document], place: _Place) -> list[str]:
    errors = [place.error(index, problem) for index, document in enumerate(documents) for problem in document.problems]
    more = len(errors) - MOST_ERRORS
    if more <= 0:
        return errors
    return [*errors[:MOST_ERRORS], f"Could not decode {more} more resources in {place}."]
