"""Brotli, as far as it is needed to read what producers compress, piece by piece, and to write the like."""

from collections.abc import Iterator
from typing import Final

import brotli
from returns.result import Failure, Result, Success

PIECE: Final = 64 * 1024
"""Bytes that are unpacked at once, give or take a few."""


def brotli_decompressed(compressed: bytes) -> Iterator[Result[bytes, str]]:
    """What one complete stream stands for, piece by piece; a failure ends it, and says why in one clause."""
    decompressor = brotli.Decompressor()
    while not decompressor.is_finished():
        try:
            piece = decompressor.process(compressed, output_buffer_limit=PIECE)
        except brotli.error:
            yield Failure("is not compressed with brotli")
            return
        if not piece and not decompressor.is_finished() and decompressor.can_accept_more_data():
            yield Failure("ends before the compressed data do")
            return
        yield Success(piece)
        compressed = b""


def brotli_compressed(content: bytes) -> bytes:
    """One complete stream that stands for these bytes, made fast rather than small."""
    compressed: bytes = brotli.compress(content, quality=4)  # of 11; the last ones take twenty times as long
    return compressed
