import tracemalloc
from itertools import islice

import brotli
import pytest
from returns.result import Failure

from hedgerow_adapters.compression import PIECE, brotli_decompressed

TEXT = b"apiVersion: v1\nkind: ConfigMap\n" * 1000


def unpacked(compressed: bytes) -> bytes:
    return b"".join(piece.unwrap() for piece in brotli_decompressed(compressed))


@pytest.mark.parametrize("content", [b"", b"a", TEXT, bytes(PIECE), bytes(10 * PIECE + 1)])
def test_what_was_compressed_comes_back(content: bytes) -> None:
    assert unpacked(brotli.compress(content)) == content


def test_a_bomb_is_unpacked_piece_by_piece() -> None:
    bomb = brotli.compress(bytes(100_000_000), quality=1)
    tracemalloc.start()
    try:
        pieces = list(islice(brotli_decompressed(bomb), 3))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(pieces) == 3
    assert peak < 20 * PIECE


@pytest.mark.parametrize(
    ("compressed", "problem"),
    [
        pytest.param(b"apiVersion: v1", "is not compressed with brotli", id="plain text"),
        pytest.param(brotli.compress(TEXT)[:-1], "ends before the compressed data do", id="cut off"),
        pytest.param(b"", "ends before the compressed data do", id="nothing"),
        pytest.param(brotli.compress(TEXT) + b"more", "is not compressed with brotli", id="something behind"),
    ],
)
def test_what_is_no_complete_stream_is_refused(compressed: bytes, problem: str) -> None:
    *_, last = brotli_decompressed(compressed)

    assert last == Failure(problem)
