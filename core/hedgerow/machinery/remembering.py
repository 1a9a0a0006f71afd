"""Answers that are kept because the same is asked about again and again.

Whoever writes manifests chooses the texts, so only short ones are kept: what memory is spent on them has a bound that
nobody outside can move. Of lists, which others hold anyway, the latest is kept.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Final, TypeVar

Answer = TypeVar("Answer")
Item = TypeVar("Item")

LONGEST: Final = 1024
MOST: Final = 2048


def remembered(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The same function of a text, which keeps its latest answers to short texts."""
    kept = lru_cache(maxsize=MOST)(function)

    @wraps(function)
    def answer(text: str) -> Answer:
        return kept(text) if len(text) <= LONGEST else function(text)

    return answer


@remembered
def shared_text(text: str) -> str:
    """The text, for texts that many objects hold: mostly the very one that was given last, so that it is held once."""
    return text


def latest_remembered(function: Callable[[Sequence[Item]], Answer]) -> Callable[[Sequence[Item]], Answer]:
    """The same function of a list, which keeps its latest answer, and gives it again for an equal list.

    To compare two lists of the very same items takes next to no time. Neither list nor answer may be changed.
    """
    latest: tuple[Sequence[Item], Answer] | None = None

    @wraps(function)
    def answer(items: Sequence[Item]) -> Answer:
        nonlocal latest
        kept = latest
        if kept is None or kept[0] != items:
            latest = kept = (items, function(items))
        return kept[1]

    return answer
