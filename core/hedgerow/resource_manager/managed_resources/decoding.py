"""What the Secrets of a ManagedResource hold, and which of it cannot be read.

A broken value costs one error that names its key. One budget limits all Secrets together: the value that exceeds it is
an error as well, and nothing after it is decoded. Others get their turn after every slice.

The checksum of the values counts each as often as it holds an object. That may be a lot to read: a value of 1 MiB that
holds 2 000 objects counts as 2 GB. So it is read in slices, and only if the key of the values has changed.

Source: managed-resources §7.3, §7.6, §22.
"""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.budget import OverBudgetError, ReadingBudget, Slices, Value, finished
from hedgerow.machinery.documents.streams import documents_in_slices
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import object_at
from hedgerow.machinery.steps import Now, Pause

COMPRESSED: Final = ".br"
"""What the keys of compressed values end in."""

SLICE: Final = 4 * 1024 * 1024
"""Bytes that are read at once, which takes some milliseconds."""
LONGEST: Final = timedelta(seconds=60)
"""Decoding ends after this time, whatever it waits for. The other limits are reached within seconds."""

OVERTIME: Final = f"more than can be decoded in {LONGEST.seconds} s"
_BYTES_OF_A_NODE: Final = 1024
"""Bytes that are decompressed, or decoded from base64, in the time that it takes to read a node."""

_LINE_ENDS: Final = str.maketrans("", "", "\r\n")

Decompress: TypeAlias = Callable[[bytes], Iterable[Result[bytes, str]]]
"""What compressed bytes stand for, in pieces, or why it cannot be told; it may be endless, and is not read to its end
then."""


@dataclass(frozen=True, slots=True)
class DecodedValue:
    """One data key of a Secret."""

    raw: bytes
    """The value as it is stored, compressed if it is."""
    documents: tuple[Manifest, ...]
    """The objects in it, in their order; beyond being mappings they may be of any shape."""
    errors: tuple[str, ...]
    """What cannot be decoded, a sentence each."""


Decoded: TypeAlias = Mapping[str, tuple[DecodedValue, ...]]
"""What Secrets hold, by their names."""


def decoded_secret(secret: Manifest, decompress: Decompress) -> tuple[DecodedValue, ...]:
    """What a Secret holds, key by key in byte order.

    Args:
        secret: whole, as it is stored.
        decompress: how values of keys that end in `.br` are decompressed.

    Raises:
        UnreadableError: the data are no mapping, which no API server stores.
    """
    return finished(_decoded_secret(secret, decompress, ReadingBudget()))


def decompressed(raw: bytes, decompress: Decompress, budget: ReadingBudget) -> Result[bytes, str]:
    """What a compressed value stands for, or why that cannot be told."""
    try:
        return finished(_decompressed(raw, decompress, budget))
    except OverBudgetError as error:
        return Failure(f"stands for {error}")


async def in_slices(work: Slices[Value], budget: ReadingBudget) -> Value:
    """The result of long work. Other keys run after each slice; what takes too long is ended by the budget.

    Args:
        work: begins with the call.
        budget: counts what is read.
    """
    began = await Now()
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        await Pause(budget.nodes)
        if await Now() - began > LONGEST:
            budget.end(OVERTIME)


def decoded_secrets(secrets: Mapping[str, Manifest], decompress: Decompress, budget: ReadingBudget) -> Slices[Decoded]:
    """What Secrets hold as far as the budget reaches, slice by slice.

    Args:
        secrets: by name, whole.
        decompress: how values of keys that end in `.br` are decompressed.
        budget: limits what is decoded.

    Raises:
        UnreadableError: the data of a Secret are no mapping, which no API server stores.
    """
    decoded: dict[str, tuple[DecodedValue, ...]] = {}
    for name, secret in secrets.items():
        decoded[name] = () if budget.exceeded else (yield from _decoded_secret(secret, decompress, budget))
    return decoded


def _decoded_secret(
    secret: Manifest, decompress: Decompress, budget: ReadingBudget
) -> Slices[tuple[DecodedValue, ...]]:
    data = object_at(secret, "data")
    values: list[DecodedValue] = []
    for key in sorted(data):
        source = f"'{key}' in secret '{key_of(secret)}'"
        decode = decompress if key.endswith(COMPRESSED) else None
        values.append((yield from _decoded_value(data[key], source, decode, budget)))
        if budget.exceeded:
            break
    return tuple(values)


def _decoded_value(
    encoded: Any, source: str, decompress: Decompress | None, budget: ReadingBudget
) -> Slices[DecodedValue]:
    def error(index: int, cause: str) -> str:
        if cause == budget.exceeded:
            cause = f"the secrets hold {cause}, and nothing from here on is decoded"
        return f"Could not decode resource at index {index} in {source}: {cause}."

    if budget.ends_slice(len(encoded) // _BYTES_OF_A_NODE if isinstance(encoded, str) else 1):
        yield
    stored = _raw(encoded)
    raw = stored.value_or(b"")
    content = stored
    try:
        if decompress is None:
            budget.spend(size=len(raw))
        else:
            content = stored if isinstance(stored, Failure) else (yield from _decompressed(raw, decompress, budget))
    except OverBudgetError as limit:
        return DecodedValue(raw, (), (error(0, str(limit)),))
    text = content.bind(_text)
    if isinstance(text, Failure):
        return DecodedValue(raw, (), (error(0, f"the value {text.failure()}"),))
    documents = yield from documents_in_slices(text.unwrap(), budget)
    objects = tuple(each.value for each in documents if each.value is not None and not each.problems)
    problems = ((index, problem) for index, document in enumerate(documents) for problem in document.problems)
    return DecodedValue(raw, objects, tuple(error(index, problem) for index, problem in problems))


def _decompressed(raw: bytes, decompress: Decompress, budget: ReadingBudget) -> Slices[Result[bytes, str]]:
    pieces: list[bytes] = []
    for piece in decompress(raw):
        if isinstance(piece, Failure):
            return piece
        pieces.append(piece.unwrap())
        budget.spend(size=len(pieces[-1]))
        if budget.ends_slice(len(pieces[-1]) // _BYTES_OF_A_NODE):
            yield
    return Success(b"".join(pieces))


def _raw(encoded: Any) -> Result[bytes, str]:
    """The bytes of a value as it stands in the data of a Secret, maybe in lines; null is an empty one."""
    if encoded is None:
        return Success(b"")
    if not isinstance(encoded, str):
        return Failure(f"must be a string, got {json_type(encoded)}")
    try:
        return Success(b64decode(encoded.translate(_LINE_ENDS), validate=True))
    except ValueError:
        return Failure("is not encoded in base64")


def _text(content: bytes) -> Result[str, str]:
    try:
        return Success(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Failure(f"is not UTF-8 text: it holds the byte 0x{content[error.start]:02x}")


class Checksum:
    """The checksum of values that follow one another; equal values count as often as they are given."""

    def __init__(self, values: Iterable[bytes]) -> None:
        """Nothing is computed yet but the key."""
        self._runs = [(value, sum(1 for _ in same)) for value, same in groupby(values)]
        digests = ((hashlib.sha256(value).hexdigest(), times) for value, times in self._runs)
        self.key = hashlib.sha256(repr([*digests]).encode()).digest()
        """Equal for equal values, and for no others."""

    def computed(self) -> Slices[str]:
        """The checksum in hexadecimal digits."""
        checksum = hashlib.sha256()
        left = SLICE
        for value, times in self._runs:
            for _ in range(times):
                checksum.update(value)
                left -= len(value)
                if left <= 0:
                    yield
                    left = SLICE
        return checksum.hexdigest()

    def computed_at_once(self) -> str | None:
        """The checksum; none if a slice is not enough for it."""
        try:
            next(self.computed())
        except StopIteration as end:
            checksum: str = end.value
            return checksum
        return None
