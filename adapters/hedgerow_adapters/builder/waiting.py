"""Waits for ManagedResources: looks at them every two seconds until they are as hoped for, or time is up.

A deadline is a reading of the event loop's clock, so that several waits can share one.

Source: managed-resources §17.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.resource_manager.builder import health_problem, progress_problem
from hedgerow.resource_manager.builder.managed_resource import deletion_problem, still_exists
from hedgerow_adapters.builder.asking import NotDone, ask
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Transport

INTERVAL: Final = 2.0
"""Seconds between one look and the next."""


class Wait(Protocol):
    """One of the functions below that wait for a single ManagedResource."""

    def __call__(
        self, transport: Transport, key: ObjectKey, *, deadline: float
    ) -> Coroutine[Any, Any, Result[None, NotDone]]:
        """Whether what was waited for came true in time, or why not."""
        ...


@dataclass(frozen=True, slots=True)
class _Goal:
    """What is waited for."""

    problem: Callable[[Manifest], str | None]
    """Why to wait on; none when it is reached."""
    is_absence: bool = False
    """Whether it is reached when there is no ManagedResource any more."""
    too_late: Callable[[Manifest, str], str] = lambda _managed_resource, problem: problem
    """What to tell when time is up, of the ManagedResource as it was seen last and its problem."""


_HEALTHY: Final = _Goal(health_problem)
_ROLLED_OUT: Final = _Goal(progress_problem)
_GONE: Final = _Goal(
    lambda managed_resource: still_exists(key_of(managed_resource)), is_absence=True, too_late=deletion_problem
)


async def wait_until_healthy(transport: Transport, key: ObjectKey, *, deadline: float) -> Result[None, NotDone]:
    """Whether a ManagedResource is applied and healthy before a deadline; a refused look ends the wait."""
    return await _reached(transport, key, _HEALTHY, deadline)


async def wait_until_healthy_and_not_progressing(
    transport: Transport, key: ObjectKey, *, deadline: float
) -> Result[None, NotDone]:
    """Whether a ManagedResource is healthy and rolled out before a deadline; a refused look ends the wait."""
    return await _reached(transport, key, _ROLLED_OUT, deadline)


async def wait_until_deleted(transport: Transport, key: ObjectKey, *, deadline: float) -> Result[None, NotDone]:
    """Whether a ManagedResource is gone before a deadline, with all that it does not keep, or what holds it up."""
    return await _reached(transport, key, _GONE, deadline)


async def wait_for_all(
    wait: Wait, transport: Transport, keys: Iterable[ObjectKey], *, deadline: float
) -> Result[None, tuple[NotDone, ...]]:
    """Whether what is waited for comes true for each of some ManagedResources, or all that did not, in their order.

    Args:
        wait: what for, such as `wait_until_healthy`.
        transport: leads to the cluster of the ManagedResources.
        keys: of them.
        deadline: one for all.
    """
    async with asyncio.TaskGroup() as group:
        waits = [group.create_task(wait(transport, key, deadline=deadline)) for key in keys]
    problems = tuple(end.failure() for each in waits if isinstance(end := each.result(), Failure))
    return Failure(problems) if problems else Success(None)


async def _reached(transport: Transport, key: ObjectKey, goal: _Goal, deadline: float) -> Result[None, NotDone]:
    late = f"managed resource {key} could not be read in time"
    try:
        async with asyncio.timeout_at(deadline):
            while True:
                answer = await ask(transport, requests.get, MANAGED_RESOURCES, key)
                if isinstance(answer, Failure):
                    return Success(None) if goal.is_absence and answer.failure().is_absence else answer
                seen: Manifest = answer.unwrap()
                problem = goal.problem(seen)
                if problem is None:
                    return Success(None)
                late = goal.too_late(seen, problem)
                await asyncio.sleep(INTERVAL)
    except TimeoutError:
        return Failure(NotDone(late, is_late=True))
