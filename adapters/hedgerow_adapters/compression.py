"""Brotli, as far as it is needed to read what producers compress, within a limit of bytes, and to write the like."""

import brotli
from returns.result import Failure, Result, Success


def brotli_decompressed(compressed: bytes, most: int) -> Result[bytes, str]:
    """What compressed bytes stand for, or why that cannot be told, as one clause.

    Args:
        compressed: one complete stream with nothing behind it.
        most: how many bytes it may stand for. What is longer is not unpacked much beyond that.
    """
    decompressor = brotli.Decompressor()
    try:
        content = decompressor.process(compressed, output_buffer_limit=most + 1)
    except brotli.error:
        return Failure("is not compressed with brotli")
    if len(content) > most:
        return Failure(f"stands for more than {most} bytes once decompressed")
    if not decompressor.is_finished():
        return Failure("ends before the compressed data do")
    return Success(content)


def brotli_compressed(content: bytes) -> bytes:
    """One complete stream that stands for these bytes."""
    compressed: bytes = brotli.compress(content)
    return compressed
