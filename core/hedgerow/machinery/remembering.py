"""Answers that are kept because the same texts are asked about again and again.

Whoever writes manifests chooses these texts, so only short ones are kept: what memory is spent has a bound that nobody
outside can move.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Answer = TypeVar("Answer")

LONGEST: Final = 1024
MOST: Final = 2048


def remembered(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The same function of a text, which keeps its latest answers to short texts."""
    kept = lru_cache(maxsize=MOST)(function)

    @wraps(function)
    def answer(text: str) -> Answer:
        return kept(text) if len(text) <= LONGEST else function(text)

    return answer
