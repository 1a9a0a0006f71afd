"""Replies as a journal holds them: without the steps that they answer.

The reply to a write names the write. A journal does not repeat it: whoever makes the decision again knows what it has
asked, and gets the reply to exactly that.
"""

from dataclasses import dataclass
from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan, RecordEvents, WriteResult
from hedgerow.machinery.steps import AtOnce, Pause, Step


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a write, whichever it was."""

    stored: Manifest | None
    error: ApiError | None


def noted(reply: Any) -> Any:
    """A reply without the step that it answers."""
    if isinstance(reply, WriteResult):
        return Told(reply.stored, reply.error)
    if type(reply) is tuple:
        return tuple(map(noted, reply))
    return reply


def replied(step: Step[Any], reply: Any) -> Any:
    """The reply to a step, from a noted one."""
    match step:
        case AtOnce(steps):
            return tuple(replied(each, one) for each, one in zip(steps, reply, strict=True))
        case InOrder(actions):
            # What follows a refused action has no result.
            return tuple(replied(each, one) for each, one in zip(actions, reply, strict=False))
        case _ if isinstance(step, ACTIONS):
            return WriteResult(step, reply.stored, reply.error)
        case _:
            return reply


def has_same_reply(one: Step[Any] | Plan | None, other: Step[Any] | Plan | None) -> bool:
    """True if the reply to one step is a reply to the other: both ask the same, or write to the same objects."""
    match one, other:
        case (AtOnce(steps), AtOnce(others)) | (InOrder(steps), InOrder(others)):
            return len(steps) == len(others) and all(map(has_same_reply, steps, others))
        case (Plan(), Plan()) | (RecordEvents(), RecordEvents()) | (Pause(), Pause()):
            return True
        case _ if isinstance(one, ACTIONS) and type(one) is type(other):
            names = ("resource", "key", "cluster", "reason", "subresource", "dry_run")
            return all(getattr(one, name, None) == getattr(other, name, None) for name in names)
        case _:
            return one == other
