"""Whether a line would say something new.

What fails a hundred times in an outage is worth one line, and another one only when it has been so for long. Decides
from what was said and when; is told the time, and writes nothing itself.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

REMINDER: Final = 600.0
"""Seconds after which what still goes on is said again."""
PAUSE: Final = 60.0
"""Seconds in which a trouble that comes and goes is said once."""
REMEMBERED: Final = 8192
"""Troubles: more than that, such as one of each of very many keys, are said more often."""


@dataclass(slots=True)
class _Trouble:
    began: float
    said_at: float = float("-inf")
    is_over: bool = False


class Repetition:
    """The troubles of late. A trouble is any value that is equal when it is the same again."""

    def __init__(self) -> None:
        self._troubles: OrderedDict[int, _Trouble] = OrderedDict()

    def is_news(self, trouble: Hashable, now: float) -> bool:
        """Note a trouble, and whether it is to be said now: not if it was before.

        Args:
            trouble: what is the matter.
            now: a monotonic time in seconds.
        """
        mark = hash(trouble)
        known = self._troubles.setdefault(mark, _Trouble(now))
        if known.is_over:
            known.began, known.is_over = now, False
        self._troubles.move_to_end(mark)
        if len(self._troubles) > REMEMBERED:
            self._troubles.popitem(last=False)
        quiet = REMINDER if known.said_at >= known.began else PAUSE
        if now - known.said_at < quiet:
            return False
        known.said_at = now
        return True

    def ended(self, trouble: Hashable) -> bool:
        """Note the end of a trouble, and whether it had been said, so that its end should be too."""
        known = self._troubles.get(hash(trouble))
        if known is None or known.is_over:
            return False
        known.is_over = True
        return known.said_at >= known.began
