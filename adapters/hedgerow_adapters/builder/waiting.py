"""Waits for ManagedResources: looks at them every two seconds until they are as hoped for, or time is up.

A deadline is a reading of the event loop's clock, so that several waits can share one.

Source: managed-resources §17.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.resource_manager.builder import health_problem, progress_problem
from hedgerow.resource_manager.builder.managed_resource import deletion_problem, still_exists
from hedgerow_adapters.builder.asking import NotDone, NotDoneError, absence_is_fine, answered, ask
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Transport

INTERVAL: Final = 2.0
"""Seconds between one look and the next."""


Wait: TypeAlias = Callable[..., Coroutine[Any, Any, Result[None, NotDone]]]
"""One of the functions below that wait for a single ManagedResource."""


@answered
async def wait_until_healthy(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is applied and healthy; a refused look ends the wait."""
    await _reached(transport, key, deadline, health_problem)


@answered
async def wait_until_healthy_and_not_progressing(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is healthy and rolled out; a refused look ends the wait."""
    await _reached(transport, key, deadline, progress_problem)


@answered
async def wait_until_deleted(transport: Transport, key: ObjectKey, *, deadline: float) -> None:
    """Wait until a ManagedResource is gone with all that it does not keep; the failure says what holds it up."""
    with absence_is_fine():
        await _reached(transport, key, deadline, lambda seen: still_exists(key_of(seen)), deletion_problem)


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


async def _reached(
    transport: Transport,
    key: ObjectKey,
    deadline: float,
    problem_with: Callable[[Manifest], str | None],
    too_late: Callable[[Manifest, str], str] = lambda _seen, problem: problem,
) -> None:
    """Wait until there is no problem with a ManagedResource; `too_late` words what was seen last."""
    late = f"managed resource {key} could not be read in time"
    try:
        async with asyncio.timeout_at(deadline):
            while True:
                seen: Manifest = await ask(transport, requests.get, MANAGED_RESOURCES, key)
                if (problem := problem_with(seen)) is None:
                    return
                late = too_late(seen, problem)
                await asyncio.sleep(INTERVAL)
    except TimeoutError:
        raise NotDoneError(NotDone(late, is_late=True)) from None
