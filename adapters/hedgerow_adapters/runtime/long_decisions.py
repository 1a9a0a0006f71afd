"""Which decisions compute for long at the moment: one at a time, and only while memory is left for what it will hold.

Expected flow: a turn whose decision pauses for the first time asks to `begin`. If it may not, the turn ends, without
occupying a worker, and its key is woken when there is room. A turn that may holds its place until its decision goes on
with something else, and what it has computed until it `ends`. Guarantees: as long as keys wait, the end of any turn
wakes one of them if there is room. A turn that has computed before goes on beside others, so that no work is lost.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

MOST_HELD: Final = 500_000
"""Values of decoded documents that turns hold when another may begin to decode, some 50 MB; it adds as many at most."""


class NoRoomError(Exception):
    """The turn has to end: its decision takes long, and others are under way. Its key is woken later."""


class LongDecisions:
    """The decisions of all controllers of a process that compute for long."""

    def __init__(self) -> None:
        self._computing: Hashable = None
        self._held: dict[Hashable, int] = {}
        self._waiting: OrderedDict[Hashable, Callable[[], None]] = OrderedDict()

    def begin(self, turn: Hashable, wake: Callable[[], None]) -> None:
        """Let the decision of a turn compute; if it has to wait, `wake` gives its key another turn later.

        Called whenever the decision pauses.

        Raises:
            NoRoomError: it has to wait.
        """
        if self._computing == turn or turn in self._held:
            return
        if self._computing is not None or not self._has_memory:
            self._waiting[turn] = wake
            raise NoRoomError
        self._waiting.pop(turn, None)
        self._computing = turn

    def computed(self, turn: Hashable, held: int) -> None:
        """Note that a decision goes on with something else, and holds so many values until its turn ends."""
        if self._computing == turn or turn in self._held:
            self._held[turn] = held
        self._leave(turn)

    def end(self, turn: Hashable) -> None:
        """Note that a turn has ended, however that went."""
        self._held.pop(turn, None)
        self._leave(turn)

    @property
    def _has_memory(self) -> bool:
        return sum(self._held.values()) <= MOST_HELD

    def _leave(self, turn: Hashable) -> None:
        if self._computing == turn:
            self._computing = None
        if self._waiting and self._computing is None and self._has_memory:
            _, wake = self._waiting.popitem(last=False)
            wake()
