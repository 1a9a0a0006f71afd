"""Sends the writes of a step or plan, and reports on each.

A write that fails stops no other, unless they are in order: then nothing after it is sent. Decides nothing.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, resource_version_of
from hedgerow.machinery.plan import Action, ApiError, Create, Delete, JsonPatch, MergePatch, Update, WriteResult
from hedgerow_adapters.protocol import requests, responses
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, Transport, TransportError

AT_ONCE: Final = 32
OVERDUE: Final = 10.0
"""Seconds that every write has for its answer, however early a cache shows its result."""
CHECKED_EVERY: Final = 0.5
"""Seconds between two checks whether a cache shows what became of an overdue write."""


@dataclass(frozen=True, slots=True)
class Written:
    """An action that the server carried out."""

    action: Action
    resource_version: int | None
    """The version that the write made; none where the object is gone."""
    stored: Manifest | None = field(default=None, compare=False, repr=False)
    """The object as the server has it now; none where it is gone, or the answer does not say."""

    @property
    def result(self) -> WriteResult:
        """The result that a decision gets."""
        return WriteResult(self.action, self.stored)


@dataclass(frozen=True, slots=True)
class NotWritten:
    """An action that failed; trying again later may help."""

    action: Action
    problem: str
    is_race: bool = False
    """True if another client was faster, so that a fresher cache settles it."""
    hits_all: bool = False
    """True if any other write would have failed, too: there is no connection, no lease, or no permission."""
    answer: responses.StatusError | None = field(default=None, compare=False, repr=False)
    """The server's refusal; none where there was no answer."""

    @property
    def result(self) -> WriteResult:
        """The result that a decision gets, in the words of the server."""
        if self.answer is not None:
            return WriteResult(self.action, error=responses.api_error_of(self.action, self.answer))
        return WriteResult(self.action, error=ApiError(0, "", self.problem))


@dataclass(frozen=True, slots=True)
class Unanswered:
    """An action whose answer was lost, while a cache shows a later version of the object.

    That version may be the result of the action or of another client's write. The caches know more than the decision
    did, so this is no failure: the key is decided anew.
    """

    action: Action


Report: TypeAlias = Written | NotWritten | Unanswered


class Executor:
    """Sends the requests that plans ask for.

    `may_write` is asked whenever one is about to leave: a process that has lost its lease sends nothing more.
    """

    def __init__(
        self,
        target: Transport,
        *,
        source: Transport | None = None,
        may_write: Callable[[], bool] = lambda: True,
        is_overtaken: Callable[[Action], bool] = lambda _action: False,
    ) -> None:
        """One that has sent nothing yet; without a `source`, the target is the source, too.

        `is_overtaken` tells whether a cache shows a later version of the object than an action was planned for: then a
        lost answer is no failure.
        """
        self._is_overtaken = is_overtaken
        self._transports = {Cluster.TARGET: target, Cluster.SOURCE: source or target}
        self._may_write = may_write

    async def carry_out(
        self,
        actions: Sequence[Action],
        note: Callable[[Report], None] = lambda _report: None,
        *,
        in_order: bool = False,
    ) -> list[Report]:
        """The reports on actions; `note` gets each at once, so that a turn that is cancelled knows its writes.

        In order, each action waits for the one before it, and nothing after one that fails is tried or reported on.
        """
        if in_order:
            reports: list[Report] = []
            for action in actions:
                reports.append(await self._reported(action, note))
                if not isinstance(reports[-1], Written):
                    break
            return reports
        if len(actions) == 1:
            return [await self._reported(actions[0], note)]
        places = asyncio.Semaphore(AT_ONCE) if len(actions) > AT_ONCE else contextlib.nullcontext()

        async def placed(action: Action) -> Report:
            async with places:
                return await self._reported(action, note)

        ends = await asyncio.gather(*map(placed, actions), return_exceptions=True)
        # Only now: the other writes would go on unattended.
        if error := next((end for end in ends if isinstance(end, BaseException)), None):
            raise error
        return [end for end in ends if not isinstance(end, BaseException)]

    async def _reported(self, action: Action, note: Callable[[Report], None]) -> Report:
        report = await self._attempt(action)
        note(report)
        return report

    async def _attempt(self, action: Action) -> Report:
        try:
            request = requests.for_action(action)
        except requests.UnaddressableError as nonsense:
            error = responses.StatusError(HTTPStatus.BAD_REQUEST, "BadRequest", str(nonsense))
            return NotWritten(action, error.message, answer=error)
        return await self._sent(action, request)

    async def _sent(self, action: Action, request: Request) -> Report:
        loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)
        timer: asyncio.TimerHandle

        def check() -> None:
            """End the wait once a cache shows a later version: a lost answer would occupy a worker for long."""
            nonlocal timer
            if self._is_overtaken(action):
                limit.reschedule(loop.time())
            else:
                timer = loop.call_later(CHECKED_EVERY, check)

        timer = loop.call_later(OVERDUE, check)
        try:
            async with limit:
                response = await self._transports[action.cluster].send(request, may_send=self._may_write)
        except TimeoutError:
            return Unanswered(action)
        except NotSentError:
            return NotWritten(action, "this process no longer holds the lease", hits_all=True)
        except TransportError as error:
            return Unanswered(action) if self._is_overtaken(action) else NotWritten(action, str(error), hits_all=True)
        except Exception as error:  # noqa: BLE001 -- what became of the others must not be lost with it
            return NotWritten(action, f"{type(error).__name__}: {error}")
        finally:
            timer.cancel()
        if response.is_success:
            return _written(action, response)
        return _not_written(action, request, responses.status_error(response))


def _written(action: Action, response: Response) -> Written:
    stored = responses.stored_by(action, response)
    if stored is None or isinstance(action, Delete):
        return Written(action, None, stored)
    version = resource_version_of(stored)
    return Written(action, int(version) if version and version.isdecimal() else None, stored)


def _not_written(action: Action, request: Request, error: responses.StatusError) -> Report:
    if responses.is_done_already(action, error):
        return Written(action, None)
    match action:
        case Create() if error.already_exists:
            return NotWritten(action, error.message, is_race=True, answer=error)
        case Update() | MergePatch() | JsonPatch() if error.is_absence_of(action.key.name):
            return NotWritten(action, error.message, is_race=True, answer=error)
    problem = responses.missing_permission(request, error) if error.is_forbidden else error.message
    return NotWritten(action, problem, is_race=error.is_conflict, hits_all=error.is_missing_permission, answer=error)
