import tracemalloc

import brotli
import pytest
from returns.result import Failure, Success

from hedgerow_adapters.compression import brotli_decompressed

TEXT = b"apiVersion: v1\nkind: ConfigMap\n" * 1000


@pytest.mark.parametrize("content", [b"", b"a", TEXT])
def test_what_was_compressed_comes_back(content: bytes) -> None:
    assert brotli_decompressed(brotli.compress(content), len(content)) == Success(content)


@pytest.mark.parametrize("most", [0, 1, len(TEXT) - 1])
def test_what_is_longer_than_allowed_is_refused(most: int) -> None:
    assert brotli_decompressed(brotli.compress(TEXT), most) == Failure(
        f"stands for more than {most} bytes once decompressed"
    )


def test_a_bomb_is_not_unpacked() -> None:
    bomb = brotli.compress(bytes(100_000_000), quality=1)
    tracemalloc.start()
    try:
        refused = brotli_decompressed(bomb, 1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert isinstance(refused, Failure)
    assert peak < 10_000_000


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
    assert brotli_decompressed(compressed, 10**6) == Failure(problem)
