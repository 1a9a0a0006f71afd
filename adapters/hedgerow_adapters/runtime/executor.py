"""Carries out the actions of a plan.

Sends all of them, at most a few at once, and reports on each: one that fails stops no other. Decides nothing.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hedgerow.machinery.objects import resource_version_of
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.api_errors import ApiError, api_error, missing_permission
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, Transport, TransportError

AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Written:
    """An action that the server carried out."""

    action: Action
    resource_version: int | None
    """The version that the write made; none where the object is gone."""


@dataclass(frozen=True, slots=True)
class NotWritten:
    """An action that failed; trying again later may help."""

    action: Action
    problem: str
    is_race: bool = False
    """Whether it failed only because somebody else was faster, so that a fresher view settles it."""


class Executor:
    """Sends the requests that plans ask for.

    `may_write` is asked whenever one is about to leave: a process that has lost its lease sends nothing more.
    """

    def __init__(self, transport: Transport, *, may_write: Callable[[], bool] = lambda: True) -> None:
        self._transport = transport
        self._may_write = may_write

    async def carry_out(self, actions: Iterable[Action]) -> list[Written | NotWritten]:
        """What became of each action, in their order."""
        pending = list(actions)
        if len(pending) == 1:
            return [await self._attempt(pending[0])]
        places = asyncio.Semaphore(AT_ONCE)

        async def attempt(action: Action) -> Written | NotWritten:
            async with places:
                return await self._attempt(action)

        return await asyncio.gather(*map(attempt, pending))

    async def _attempt(self, action: Action) -> Written | NotWritten:
        request = requests.for_action(action)
        try:
            response = await self._transport.send(request, may_send=self._may_write)
        except NotSentError:
            return NotWritten(action, "this process no longer holds the lease")
        except TransportError as error:
            return NotWritten(action, str(error))
        except Exception as error:  # noqa: BLE001 -- what became of the others must not be lost with it
            return NotWritten(action, f"{type(error).__name__}: {error}")
        if response.is_success:
            return Written(action, _version_made_by(action, response))
        return _outcome_of(action, request, api_error(response))


def _version_made_by(action: Action, response: Response) -> int | None:
    if isinstance(action, Delete):
        return None
    version = resource_version_of(response.body) if isinstance(response.body, Mapping) else None
    return int(version) if version and version.isdecimal() else None


def _outcome_of(action: Action, request: Request, error: ApiError) -> Written | NotWritten:
    match action:
        case Delete() if error.is_not_found:
            return Written(action, None)
        case Create() if error.already_exists:
            return NotWritten(action, error.message, is_race=True)
        case MergePatch() | JsonPatch() if error.is_not_found:
            return NotWritten(action, error.message, is_race=True)
    problem = missing_permission(request, error) if error.is_forbidden else error.message
    return NotWritten(action, problem, is_race=error.is_conflict)
