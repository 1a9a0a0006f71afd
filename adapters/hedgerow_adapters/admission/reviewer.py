"""Reviews requests: finds the webhook, waits for its caches, performs its live reads.

Guarantees: requests do not wait for each other; there is always a decision, and in time; a defect in a webhook denies
the one operation. A long review is computed on a thread beside the event loop, which it blocks no longer than one call
into C takes. It reads the caches on the event loop, so they do not change while they are read. A computation that has
begun ends, even if its request is cancelled.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Denied, Mutated, Webhook
from hedgerow.admission.webhook import internal_error, read_in
from hedgerow.machinery.questions import Answer, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Step
from hedgerow_adapters.admission.validity import CertificateObserver
from hedgerow_adapters.listening.connections import ConnectionObserver

Ask: TypeAlias = Callable[[Question], Awaitable[Answer]]
LONGEST_READ: Final = 10.0
"""Seconds; the thread waits no longer for an event loop that may have stopped."""
Result = TypeVar("Result")


class AdmissionObserver(CertificateObserver, ConnectionObserver):
    """Hears of everything that happens in one admission server. Every method does nothing: a subclass overrides it."""

    def began(self, path: str) -> None:
        """A request reached a webhook."""

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request was answered, with an HTTP status, so many seconds after it began."""

    def allowed(self, path: str, request: AdmissionRequest, allowed: Allowed | Mutated) -> None:
        """An operation was allowed, as it is or with a changed object."""

    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        """An operation was denied."""

    def unreadable(self, path: str, problem: str) -> None:
        """A request held no review that could be read."""

    def crowded_out(self, path: str, problem: str) -> None:
        """A request was refused because others take the memory."""

    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        """A review ended with a defect; the operation is denied."""


class Computing:
    """Computes at once, on the event loop."""

    async def run(self, compute: Callable[[], Result]) -> Result:
        """The result of a computation."""
        return compute()

    def reading(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot as computations may read it."""
        return snapshot


AT_ONCE: Final = Computing()


class BesideLoop(Computing):
    """Computes on a thread of its own, one computation after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "long reviews")

    @override
    async def run(self, compute: Callable[[], Result]) -> Result:
        future = self._thread.submit(compute)
        computed = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(computed)
        except asyncio.CancelledError:
            if not future.cancel():
                await asyncio.wait({computed})
            raise

    def close(self) -> None:
        """Begin no computation any more, and end the thread after the one that it works on."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    @override
    def reading(self, snapshot: Snapshot) -> Snapshot:
        return cast("Snapshot", _ReadOnLoop(snapshot, asyncio.get_running_loop()))


class _ReadOnLoop:
    def __init__(self, snapshot: Snapshot, loop: asyncio.AbstractEventLoop) -> None:
        self._snapshot = snapshot
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def on_loop(*arguments: Any, **named: Any) -> Any:
            return getattr(self._snapshot, name)(*arguments, **named)

        def read(*arguments: Any, **named: Any) -> Any:
            return asyncio.run_coroutine_threadsafe(on_loop(*arguments, **named), self._loop).result(LONGEST_READ)

        return read


class View(Protocol):
    """The caches that a webhook reads."""

    @property
    def snapshot(self) -> Snapshot:
        """As they are now."""

    async def completed(self) -> None:
        """Return when the caches hold everything."""


@dataclass(slots=True)
class _Served:
    """A webhook and its caches. Once complete, caches stay so."""

    webhook: Webhook
    view: View
    is_complete: bool = False

    async def complete(self) -> None:
        if not self.is_complete:
            await self.view.completed()
            self.is_complete = True


class Reviewer:
    """All webhooks of one process, by their paths."""

    def __init__(
        self, webhooks: Collection[Webhook], view_of: Callable[[Webhook], View], ask: Ask, observer: AdmissionObserver
    ) -> None:
        self._served = {webhook.path: _Served(webhook, view_of(webhook)) for webhook in webhooks}
        self._ask = ask
        self._observer = observer

    @property
    def paths(self) -> Collection[str]:
        """Where there is a webhook."""
        return self._served.keys()

    async def wait_for_caches(self, path: str, patience: float) -> bool:
        """True when the caches that the webhook at a path reads are complete, false after so many seconds."""
        served = self._served[path]
        if not served.is_complete:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await served.complete()
        return served.is_complete

    async def review(
        self, path: str, request: AdmissionRequest, patience: float, spent: float = 0, computing: Computing = AT_ONCE
    ) -> Decision:
        """What the webhook at a path decides within `patience` seconds, of which so many are `spent`, or a denial."""
        served = self._served[path]
        time_limit = asyncio.timeout(patience - spent)
        try:
            async with time_limit:
                decision = await self._decide(served, request, computing)
        except TimeoutError as error:
            if not time_limit.expired():
                return self._broken(path, request, error)
            lacking = "live reads" if served.is_complete else "caches to be complete"
            decision = internal_error(f"{served.webhook.name} waited {patience:g} s for its {lacking}")
        except Exception as error:  # noqa: BLE001 -- a defect must end neither the process nor the connection
            return self._broken(path, request, error)
        if isinstance(decision, Denied):
            self._observer.denied(path, request, decision)
        else:
            self._observer.allowed(path, request, decision)
        return decision

    async def _decide(self, served: _Served, request: AdmissionRequest, computing: Computing) -> Decision:
        await served.complete()
        snapshot = computing.reading(served.view.snapshot)
        with await computing.run(lambda: served.webhook.execution(request, snapshot)) as execution:
            step = await computing.run(execution.begin)
            while isinstance(step, Step):
                step = await computing.run(partial(execution.go_on, await self._ask(read_in(step))))
        return step

    def _broken(self, path: str, request: AdmissionRequest, error: Exception) -> Denied:
        self._observer.raised(path, request, error)
        return internal_error(f"panic: {error} [recovered]")
