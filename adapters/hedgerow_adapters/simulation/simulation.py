"""Runs controllers on virtual time as a process does, but one turn at a time, and where nothing that they do lasts.

    with Simulation(CalendarLoop(start), in_memory(cluster), controllers) as simulation:
        simulation.look_at_everything()
        for turn in simulation.work():
            ...

Guarantees: a turn begins when the caches show everything that was written before it, and time stands still until
somebody lets it pass. Of several controllers the first one goes first, unless it gives way to others. The same input
leads to the same turns in the same order.

What a process does for completeness' sake alone, as it may have missed something, is left out: nothing is missed here.
Deletions are not held back, as the clusters are thrown away.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple, Self, TypeAlias

from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, all_keys
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.informer.exchanges import Refused
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.runtime.steps import no_charts
from hedgerow_adapters.simulation.clusters import Account, Happening, ReadingError, SimulationError, Worlds
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

MOST_TURNS_AT_ONCE: Final = 200
"""Turns that one key may have at one moment. Each write of its own gives it another, and these come to an end."""


Charts: TypeAlias = Callable[[RenderChart], Future[RenderedChart]]
"""Begins to render a chart, in another thread."""


class RestlessError(SimulationError):
    """A key gets turn after turn at one moment: controllers undo each other's work, or one undoes its own."""


class _Seat(NamedTuple):
    runner: ControllerRunner
    account: Account


class Simulation:
    """Controllers at work."""

    def __init__(
        self,
        loop: CalendarLoop,
        worlds: Worlds,
        controllers: Sequence[Controller[Any]],
        *,
        jitter: Callable[[], float] = lambda: 0.0,
        looks_once: bool = True,
        charts: Charts | None = None,
    ) -> None:
        """A simulation that has not begun; it closes the loop. Their contexts give turns `jitter` and `looks_once`.

        Without `charts` none is rendered.
        """
        self.turns = 0
        self._last: dict[tuple[str, ObjectKey], Happening] = {}
        self._loop = loop
        self._worlds = worlds
        self._controllers = controllers
        self._jitter = jitter
        self._looks_once = looks_once
        self._charts = charts
        self._caching: asyncio.Task[None] | None = None
        self._seats: list[_Seat] = []

    def __enter__(self) -> Self:
        """Fill the caches; raises ReadingError if a cluster does not show what a controller has to watch."""
        try:
            self._loop.run_until_complete(self._open())
            beginning = asyncio.gather(*(self._loop.create_task(runner.begin()) for runner, _ in self._seats))
            self._settle()
            self._loop.run_until_complete(beginning)
            self._settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        # Who was interrupted has nothing to say any more.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.settle()
        self._loop.close()

    @property
    def due(self) -> datetime | None:
        """When the next key is due; none: never, unless something changes."""
        readings = [due for seat in self._seats if (due := seat.runner.queue.due) is not None]
        return self._loop.moment(min(readings)) if readings else None

    @property
    def last_turns(self) -> list[Happening]:
        """The last turn of each key, in the order of controllers and keys."""
        ranks = {controller.name: rank for rank, controller in enumerate(self._controllers)}
        return [self._last[entry] for entry in sorted(self._last, key=lambda entry: (ranks[entry[0]], entry[1]))]

    @property
    def conflict(self) -> str:
        """A sentence: which controller undoes the work of another, or of another of its keys; empty: none does."""
        conflicts = ((seat.runner.controller.name, seat.account.conflict) for seat in self._seats)
        return next((f"{name} did not come to rest: {conflict}" for name, conflict in conflicts if conflict), "")

    def look_at_everything(self) -> None:
        """Give every key a turn, in order."""
        for runner, _ in self._seats:
            for key in all_keys(runner.controller, runner.snapshot):
                runner.queue.add(key)

    def work(self) -> Iterator[Happening]:
        """Take all turns of the moment, until no key waits.

        Raises RestlessError if no end is in sight, and SimulationError for a defect or a decision that took too long.
        """
        counts: Counter[tuple[str, ObjectKey]] = Counter()
        while True:
            self._settle()
            waiting = (seat for seat in self._seats if seat.runner.queue and not seat.runner.queue.gives_way)
            if (seat := next(waiting, None)) is None:
                return
            turn = self._turn(seat)
            entry = (turn.controller, turn.key)
            counts[entry] += 1
            if counts[entry] > MOST_TURNS_AT_ONCE:
                unrest = f"{turn.controller} did not come to rest about {turn.key}"
                raise RestlessError(f"{unrest} within {MOST_TURNS_AT_ONCE} turns")
            yield turn

    def _turn(self, seat: _Seat) -> Happening:
        began = self._loop.utc_now()
        turn = self._loop.create_task(seat.runner.turn())
        self._loop.settle()
        turned = turn.result() if turn.done() else self._loop.run_until_complete(turn)
        account, name = seat.account, seat.runner.controller.name
        self.turns += 1
        happening = Happening(
            began, name, turned.key, tuple(account.steps), tuple(account.events), account.failures, turned.requeue_after
        )
        self._last[name, turned.key] = happening
        return happening

    def _settle(self) -> None:
        """Let the caches see everything that was written."""
        self._loop.settle()
        for runner, account in self._seats:
            if account.defect is not None:
                raise account.defect
            for watch in runner.controller.watches:
                problem = account.interruptions.get((watch.resource, watch.cluster))
                # In memory nothing but an object that the controller cannot read is in its way.
                is_whole = self._worlds[watch.cluster].transport.is_whole
                if problem is not None and (watch.required_for_sync or not is_whole):
                    is_unserved = isinstance(problem, Refused) and problem.error.is_unproven_absence
                    missing = f"the API server does not serve {watch.resource}: " if is_unserved else ""
                    raise ReadingError(f"{missing}{problem}") from problem
        for world in self._worlds.values():
            if world.transport.failure is not None:
                raise world.transport.failure
        if self._caching is not None and self._caching.done():
            self._caching.result()

    async def _open(self) -> None:
        worlds = (self._worlds[Cluster.TARGET], self._worlds[Cluster.SOURCE])
        target, source = (Access(world.transport, world.namespaces, is_lossless=True) for world in worlds)
        clusters = Clusters.single(target) if target == source else Clusters(target, source)
        draw = random.Random(0).random  # noqa: S311 -- hides nothing
        caches = Caches(clusters, random=draw, render=self._rendered)
        for controller in self._controllers:
            account = Account(controller.name, lambda action: self._worlds[action.cluster].transport.effects.of(action))
            runner = ControllerRunner(
                self._declared(controller),
                caches,
                recorder=account,
                observer=account,
                decide=self._decided,
                guards_deletions=False,
                pause=0.0,
            )
            if controller.reads_server_version:
                await runner.read_server_version()
            runner.start()
            self._seats.append(_Seat(runner, account))
        self._caching = asyncio.create_task(caches.run())

    async def _rendered(self, chart: RenderChart) -> RenderedChart:
        if self._charts is None:
            return await no_charts(chart)
        return await self._loop.outside(self._charts(chart))

    def _declared(self, controller: Controller[Any]) -> Controller[Any]:
        """A controller that begins although files do not define all that it watches.

        In a whole cluster it asks for single objects of the kinds that objects name: lists of them may be long.
        """
        if self._worlds[Cluster.TARGET].transport.is_whole:
            return replace(controller, dynamic_watches=())
        return replace(controller, watches=tuple(replace(watch, may_be_absent=True) for watch in controller.watches))

    def _decided(
        self, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> Plan | Decision:
        context = replace(context, jitter=self._jitter(), looks_once=self._looks_once)
        return controller.reconcile(key, snapshot, context)
