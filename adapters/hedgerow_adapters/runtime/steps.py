"""Performs a step of a decision. The driver's `Hands` do the work: at API servers, in memory, or for a plan alone.

Knows what each kind of step asks for, and the order in which independent steps are performed. What an action leads to,
and how long anything takes, is up to the hands.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import ACTIONS, Action, Event, InOrder, RecordEvents, WriteResult
from hedgerow.machinery.questions import Answer, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.steps import AtOnce, Now, Pause, Step


class CarryOut(Protocol):
    """What became of each action; in order, nothing is tried after one that is refused, and nothing told of it."""

    async def __call__(self, actions: Sequence[Action], *, in_order: bool = False) -> Sequence[WriteResult]:
        """Carry actions out."""
        ...


@dataclass(frozen=True, slots=True)
class Hands:
    """What performing a step takes."""

    ask: Callable[[Question], Awaitable[Answer]]
    """What the cluster shows now."""
    look_up: Callable[[Sequence[KindQuestion]], Coroutine[Any, Any, Sequence[Resource | NotAnswered]]]
    """As which resources kinds are served."""
    carry_out: CarryOut
    record: Callable[[Sequence[Event]], None]
    """Has events recorded."""
    now: Callable[[], datetime]
    pause: Callable[[Pause], Awaitable[None]]
    """Lets others have a turn."""
    all_of: Callable[[Sequence[Coroutine[Any, Any, Any]]], Awaitable[Sequence[Any]]]
    """The results of independent work, once all of it has ended; what one of them raises is raised then."""


async def reply_to(step: Step[Any], hands: Hands) -> Any:
    """The reply to a step."""
    reply: Any = None
    match step:
        case AtOnce(steps):
            reply = await _together(steps, hands)
        case InOrder(actions):
            reply = tuple(await hands.carry_out(actions, in_order=True))
        case ObjectQuestion() | ListQuestion():
            reply = await hands.ask(step)
        case KindQuestion():
            (reply,) = await hands.look_up([step])
        case RecordEvents(events):
            hands.record(events)
        case Now():
            reply = hands.now()
        case Pause():
            await hands.pause(step)
        case _ if isinstance(step, ACTIONS):
            (reply,) = await hands.carry_out([step])
        case _:
            raise TypeError(f"this process cannot perform {type(step).__name__}")
    return reply


async def _together(steps: Sequence[Step[Any]], hands: Hands) -> tuple[Any, ...]:
    """The replies to independent steps; actions are carried out, and kinds looked up, together."""
    actions = [step for step in steps if isinstance(step, ACTIONS)]
    kinds = [step for step in steps if isinstance(step, KindQuestion)]
    others = [step for step in steps if not isinstance(step, (*ACTIONS, KindQuestion))]
    outcomes, resources, *replies = await hands.all_of(
        [hands.carry_out(actions), hands.look_up(kinds), *(reply_to(each, hands) for each in others)]
    )
    outcome, resource, reply = iter(outcomes), iter(resources), iter(replies)
    return tuple(
        next(outcome if isinstance(step, ACTIONS) else resource if isinstance(step, KindQuestion) else reply)
        for step in steps
    )
