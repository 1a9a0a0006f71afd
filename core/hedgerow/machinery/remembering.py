"""Caches for functions that are called with the same texts and lists again and again; only of short texts."""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Final, TypeVar

Answer = TypeVar("Answer")
Item = TypeVar("Item")

LONGEST: Final = 1024


def remembered(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The function with a cache of its latest answers to short texts."""
    kept = lru_cache(maxsize=2048)(function)

    @wraps(function)
    def answer(text: str) -> Answer:
        return kept(text) if len(text) <= LONGEST else function(text)

    return answer


@remembered
def shared_text(text: str) -> str:
    """The text, mostly as the same Python object for equal texts."""
    return text


def latest_remembered(function: Callable[[Sequence[Item]], Answer]) -> Callable[[Sequence[Item]], Answer]:
    """The function with a cache of its latest answer, for an equal list. Change neither the list nor the answer."""
    latest: tuple[Sequence[Item], Answer] | None = None

    @wraps(function)
    def answer(items: Sequence[Item]) -> Answer:
        nonlocal latest
        kept = latest
        if kept is None or kept[0] != items:
            latest = kept = (items, function(items))
        return kept[1]

    return answer
