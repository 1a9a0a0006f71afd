"""Steps: what a decision awaits from the outside world.

::

    async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
        answer = await ObjectQuestion(SECRETS, key, Cluster.TARGET)  # Found | NotAnswered
        result = await Create(SECRETS, manifest, "missing")  # a WriteResult
        return Plan(requeue_after=60)

A decision is a coroutine that hands out one step at a time and receives the reply. `async def` in the core means "may
wait for a reply": there is no event loop, and the same replies lead to the same decision. A driver performs the steps:
against API servers, in memory, or from a record.

The snapshot and the time change at steps and only there. Read again after a step what the decision patches, or compares
with the reply.
"""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

Reply_co = TypeVar("Reply_co", covariant=True)


class Step(Generic[Reply_co]):
    """An immutable value that a driver performs. Awaiting it returns the reply."""

    __slots__ = ()

    def __await__(self) -> Generator["Step[Any]", Any, Reply_co]:
        """Hand the step to the driver, and return its reply."""
        reply: Reply_co = yield self
        return reply


@dataclass(frozen=True, slots=True)
class AtOnce(Step[tuple[Reply_co, ...]]):
    """Independent steps. The driver performs all of them; the replies have the order of the steps."""

    steps: tuple[Step[Reply_co], ...]


@dataclass(frozen=True, slots=True)
class Now(Step[datetime]):
    """Returns the current time."""


@dataclass(frozen=True, slots=True)
class Pause(Step[None]):
    """Lets other keys run. A decision that computes for long pauses every few milliseconds."""

    held: int = 0
    """How many values of decoded documents the decision holds in memory until it ends."""
