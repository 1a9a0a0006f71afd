"""The reply to a step of a decision, and which decisions may compute for long.

A `Driver` does the work of a step: at API servers, in memory, or for a plan alone. This module decides what each kind
of step asks of the driver, and the order in which independent steps are performed.

A turn whose decision pauses for the first time asks to `begin` to compute. If it may not, it waits beside the few that
are next; if those are too many, it ends, without occupying a worker, and its key is woken when there is room. A turn
that may holds its place until its decision goes on with something else, and what it has computed until it `ends`. As
long as keys wait, the end of any turn wakes one of them if there is room. A turn that has computed before goes on
beside others, so that no work is lost.
"""

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import ACTIONS, Action, Delete, Event, InOrder, RecordEvents, WriteResult
from hedgerow.machinery.questions import Answer, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.steps import AtOnce, Now, Pause, Step


class CarryOut(Protocol):
    """Sends actions."""

    async def __call__(self, actions: Sequence[Action], *, in_order: bool = False) -> Sequence[WriteResult]:
        """The results of actions; in order, nothing after one that is refused is tried or has a result."""


Render: TypeAlias = Callable[[RenderChart], Awaitable[RenderedChart]]
Perform: TypeAlias = Callable[[Step[Any]], Awaitable[Any]]
"""Performs the steps that only one controller has; raises TypeError for others."""


async def no_further_step(step: Step[Any]) -> Any:
    """The reply of a controller without steps of its own."""
    raise TypeError(f"this process cannot perform {type(step).__name__}")


async def no_charts(_step: RenderChart) -> RenderedChart:
    """The reply to every chart where no renderer is configured."""
    return RenderError("unavailable", "this process renders no charts")


@dataclass(frozen=True, slots=True)
class Driver:
    """Performs steps."""

    ask: Callable[[Question], Awaitable[Answer]]
    look_up: Callable[[Sequence[KindQuestion]], Coroutine[Any, Any, Sequence[Resource | NotAnswered]]]
    carry_out: CarryOut
    record: Callable[[Sequence[Event]], None]
    now: Callable[[], datetime]
    pause: Callable[[Pause], Awaitable[None]]
    render: Render
    gather: Callable[[Sequence[Coroutine[Any, Any, Any]]], Awaitable[Sequence[Any]]]
    further: Perform = no_further_step


async def reply_to(step: Step[Any], driver: Driver) -> Any:
    """The reply to a step."""
    reply: Any = None
    match step:
        case AtOnce(steps):
            reply = await _together(steps, driver)
        case InOrder(actions):
            reply = tuple(await driver.carry_out(actions, in_order=True))
        case ObjectQuestion() | ListQuestion():
            reply = await driver.ask(step)
        case KindQuestion():
            (reply,) = await driver.look_up([step])
        case RecordEvents(events):
            driver.record(events)
        case RenderChart():
            reply = await driver.render(step)
        case Now():
            reply = driver.now()
        case Pause():
            await driver.pause(step)
        case _ if isinstance(step, ACTIONS):
            (reply,) = await driver.carry_out([step])
        case _:
            reply = await driver.further(step)
    return reply


async def _together(steps: Sequence[Step[Any]], driver: Driver) -> tuple[Any, ...]:
    """The replies to independent steps; actions are carried out, and kinds looked up, together."""
    actions = [step for step in steps if isinstance(step, ACTIONS)]
    kinds = [step for step in steps if isinstance(step, KindQuestion)]
    others = [step for step in steps if not isinstance(step, (*ACTIONS, KindQuestion))]
    results, resources, *replies = await driver.gather(
        [driver.carry_out(actions), driver.look_up(kinds), *(reply_to(step, driver) for step in others)]
    )
    result, resource, reply = iter(results), iter(resources), iter(replies)
    return tuple(
        next(result if isinstance(step, ACTIONS) else resource if isinstance(step, KindQuestion) else reply)
        for step in steps
    )


async def gather(work: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
    """The results of independent work; all of it ends first, so that nothing writes after the turn."""
    results: list[Any] = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def without_deletions(actions: Iterable[Action], *, in_order: bool) -> list[Action]:
    """The actions that are sent while deletions are held back: in order, only those before the first deletion."""
    if in_order:
        return list(itertools.takewhile(lambda action: not isinstance(action, Delete), actions))
    return [action for action in actions if not isinstance(action, Delete)]


MOST_HELD: Final = 500_000
"""Values of decoded documents that turns hold when another may begin to decode, some 50 MB; it adds as many at most."""


MOST_NEXT: Final = 2
"""Turns that wait to compute. A key that is woken reads everything anew; they go on at once."""


class NoRoomError(Exception):
    """The turn has to end: its decision takes long, and others are under way. Its key is woken later."""


class LongDecisions:
    """The decisions of all controllers of a process that compute for long."""

    def __init__(self) -> None:
        self._computing: Hashable = None
        self._held: dict[Hashable, int] = {}
        self._next: OrderedDict[Hashable, asyncio.Future[None]] = OrderedDict()
        self._waiting: OrderedDict[Hashable, Callable[[], None]] = OrderedDict()

    async def begin(self, turn: Hashable, wake: Callable[[], None]) -> None:
        """Let the decision of a turn compute, whenever it pauses.

        Raises NoRoomError if it has to wait too long: `wake` gives its key another turn later.
        """
        if self._computing == turn or turn in self._held:
            return
        if not self._has_memory or len(self._next) == MOST_NEXT:
            self._waiting[turn] = wake
            raise NoRoomError
        self._waiting.pop(turn, None)
        if self._computing is None and not self._next:
            self._computing = turn
            return
        self._next[turn] = asyncio.get_running_loop().create_future()
        try:
            await self._next[turn]
        finally:
            self._next.pop(turn, None)

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
        if self._computing is not None or not self._has_memory:
            return
        while self._next and self._computing is None:
            first, place = self._next.popitem(last=False)
            if not place.done():  # its turn was cancelled
                self._computing = first
                place.set_result(None)
        if self._waiting:
            _, wake = self._waiting.popitem(last=False)
            wake()
