"""Decodes the Secrets of a ManagedResource into objects, and computes the checksum of their values.

A broken value costs one error that names its key. One budget limits all Secrets together: nothing is decoded after the
value that exceeds it. Other keys run after every slice.

The checksum counts a value as often as it holds an object: 1 MiB with 2 000 objects counts as 2 GB. So it is computed
in slices, and only if the key of the values has changed.

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
"""Suffix of the keys of compressed values."""
SLICE: Final = 4 * 1024 * 1024
"""Bytes that are hashed at once, which takes some milliseconds."""
LONGEST: Final = timedelta(seconds=60)
"""Decoding ends after this time, pauses included. The other limits are reached within seconds."""
OVERTIME: Final = f"more than can be decoded in {LONGEST.seconds} s"
_BYTES_OF_A_NODE: Final = 1024
"""Bytes that are decompressed, or decoded from base64, in the time of reading a node."""
_LINE_ENDS: Final = str.maketrans("", "", "\r\n")

Decompress: TypeAlias = Callable[[bytes], Iterable[Result[bytes, str]]]
"""Decompresses bytes piece by piece, up to an error; may be endless, and is then not read to its end."""


@dataclass(frozen=True, slots=True)
class DecodedValue:
    """One data key of a Secret."""

    raw: bytes
    """The value as it is stored, maybe compressed."""
    documents: tuple[Manifest, ...]
    """The objects in it, in order: mappings of any shape."""
    errors: tuple[str, ...]
    """Why documents cannot be decoded, one sentence each."""


def decoded_secret(secret: Manifest, decompress: Decompress) -> tuple[DecodedValue, ...]:
    """The values of a whole Secret, in byte order of their keys; those of keys that end in `.br` are decompressed.

    Raises:
        UnreadableError: the data are no mapping, which no API server stores.
    """
    return finished(_decoded_secret(secret, decompress, ReadingBudget()))


def decompressed(raw: bytes, decompress: Decompress, budget: ReadingBudget) -> Result[bytes, str]:
    """The decompressed bytes, or the error."""
    try:
        return finished(_decompressed(raw, decompress, budget))
    except OverBudgetError as error:
        return Failure(f"stands for {error}")


async def in_slices(work: Slices[Value], budget: ReadingBudget) -> Value:
    """The result of long work. Other keys run after each slice; the budget ends work that takes too long."""
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


def decoded_secrets(
    secrets: Mapping[str, Manifest], decompress: Decompress, budget: ReadingBudget
) -> Slices[Mapping[str, tuple[DecodedValue, ...]]]:
    """The values of each whole Secret as far as the budget reaches, like `decoded_secret`, in slices."""
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
    """The bytes of a value in the data of a Secret, maybe in lines; null is empty."""
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
    """The checksum of a sequence of values."""

    def __init__(self, values: Iterable[bytes]) -> None:
        """Compute the key."""
        self._runs = [(value, sum(1 for _ in same)) for value, same in groupby(values)]
        digests = ((hashlib.sha256(value).hexdigest(), times) for value, times in self._runs)
        self.key = hashlib.sha256(repr([*digests]).encode()).digest()
        """Identifies the sequence."""

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
        """The checksum; none if it takes more than one slice."""
        try:
            next(self.computed())
        except StopIteration as end:
            checksum: str = end.value
            return checksum
        return None
