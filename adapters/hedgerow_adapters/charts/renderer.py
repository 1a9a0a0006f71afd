"""Renders the charts of a process: a few at a time, in the order in which they are asked for, and each of them once.

Equal requests share one rendering. It is kept, and so is what is wrong with a chart, until others need the room. A
rendering is stopped once the last who waits for it gives up.
"""

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Self, TypeAlias

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow_adapters.charts import HelmCommand
from hedgerow_adapters.charts.helm import rendered

AT_ONCE: Final = 2
MOST_KEPT: Final = 32 * 1024 * 1024
"""Bytes of renderings."""
_Kept: TypeAlias = bytes | RenderError
"""A rendering as JSON, which takes a tenth of the memory of its objects."""


@dataclass(eq=False, slots=True)
class _Run:
    """One rendering, under way or in the queue."""

    waiters: list[Future[RenderedChart]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


class ChartRenderer:
    """Renders charts until it is closed."""

    def __init__(
        self,
        run: Callable[[RenderChart, threading.Event], RenderedChart],
        *,
        at_once: int = AT_ONCE,
        most_kept: int = MOST_KEPT,
    ) -> None:
        """A renderer that has rendered nothing; `run` renders one chart, in a thread, until an event stops it."""
        self._run = run
        self._most_kept = most_kept
        self._workers = ThreadPoolExecutor(at_once, thread_name_prefix="charts")
        self._lock = threading.Lock()
        self._under_way: dict[str, _Run] = {}
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes_kept = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop what is under way."""
        with self._lock:
            for run in self._under_way.values():
                run.stop.set()
        self._workers.shutdown(cancel_futures=True)

    async def render(self, chart: RenderChart) -> RenderedChart:
        """What a chart renders to."""
        return await asyncio.wrap_future(self.submit(chart))

    def submit(self, chart: RenderChart) -> Future[RenderedChart]:
        """What a chart will have rendered to. Who does not need it any more cancels it."""
        waiter: Future[RenderedChart] = Future()
        try:
            digest = chart.digest
        except (RecursionError, TypeError, ValueError):
            waiter.set_result(RenderError("chart", "its values are no JSON, or nested too deeply"))
            return waiter
        with self._lock:
            kept = self._kept.get(digest)
            if kept is None:
                self._join(digest, chart, waiter)
            else:
                self._kept.move_to_end(digest)
        if kept is not None:
            waiter.set_result(_rendered(kept))
        return waiter

    def _join(self, digest: str, chart: RenderChart, waiter: Future[RenderedChart]) -> None:
        run = self._under_way.get(digest)
        if run is None:
            run = self._under_way[digest] = _Run()
            self._workers.submit(self._work, digest, chart, run)
        run.waiters.append(waiter)
        waiter.add_done_callback(partial(self._leave, digest, run))

    def _work(self, digest: str, chart: RenderChart, run: _Run) -> None:
        if run.stop.is_set():
            return
        reply: RenderedChart | Exception
        try:
            reply = self._run(chart, run.stop)
        except Exception as error:  # noqa: BLE001 -- it is told to those who wait
            reply = error
        kept = _kept(reply)
        with self._lock:
            if self._under_way.get(digest) is run:
                del self._under_way[digest]
            if kept is not None and not run.stop.is_set():
                self._keep(digest, kept)
            waiters, run.waiters = run.waiters, []
        for waiter in waiters:
            if not waiter.set_running_or_notify_cancel():
                continue
            if isinstance(reply, Exception):
                waiter.set_exception(reply)
            else:
                waiter.set_result(reply)

    def _keep(self, digest: str, kept: _Kept) -> None:
        self._kept[digest] = kept
        self._bytes_kept += _size(kept)
        while self._bytes_kept > self._most_kept:
            self._bytes_kept -= _size(self._kept.popitem(last=False)[1])

    def _leave(self, digest: str, run: _Run, waiter: Future[RenderedChart]) -> None:
        """Stop a rendering after the last who waited for it has given up."""
        if not waiter.cancelled():
            return
        with self._lock:
            if waiter in run.waiters:
                run.waiters.remove(waiter)
            if not run.waiters and self._under_way.get(digest) is run:
                del self._under_way[digest]
                run.stop.set()


def chart_renderer(helm: HelmCommand) -> ChartRenderer:
    """A renderer that runs Helm."""
    return ChartRenderer(partial(rendered, helm))


def _kept(reply: RenderedChart | Exception) -> _Kept | None:
    """A reply that another run would give as well."""
    if isinstance(reply, tuple):
        return json.dumps([(file.path, file.objects) for file in reply], separators=(",", ":")).encode()
    return reply if isinstance(reply, RenderError) and reply.cause == "chart" else None


def _rendered(kept: _Kept) -> RenderedChart:
    if isinstance(kept, RenderError):
        return kept
    return tuple(RenderedFile(path, tuple(objects)) for path, objects in json.loads(kept))


def _size(kept: _Kept) -> int:
    return len(kept) if isinstance(kept, bytes) else len(kept.message)
