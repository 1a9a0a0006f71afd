"""Runs controllers over in-memory clusters on virtual time, as a process runs them, but one turn at a time.

    with Simulation(CalendarLoop(start), clusters, controllers) as simulation:
        simulation.look_at_everything()
        while (turn := simulation.next_turn()) is not None:
            ...

Guarantees: a turn begins when the caches show everything that was written before it, and time stands still until
somebody lets it pass. Of several controllers the first one goes first, unless it gives way to others. The same input
leads to the same turns in the same order.

What a process does for completeness' sake alone, as it may have missed something, is left out: nothing is missed here.
Deletions are not held back, as the clusters are thrown away.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from typing_extensions import override

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, all_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Action, Decision, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.memory import InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory.options import FOREGROUND
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.caches import Caches
from hedgerow_adapters.runtime.clusters import Access, Clusters
from hedgerow_adapters.runtime.precedence import Precedence
from hedgerow_adapters.runtime.runner import ControllerRunner
from hedgerow_adapters.simulation.happenings import Account, Happening
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

_CHANGING: Final = frozenset({"PUT", "PATCH", "DELETE"})
MOST_TURNS_AT_ONCE: Final = 200
"""Turns that one key may have at one moment. Each write of its own gives it another, and these come to an end."""


class RestlessError(Exception):
    """A key gets turn after turn at one moment: controllers undo each other's work, or one undoes its own."""

    def __init__(self, controller: str, key: ObjectKey) -> None:
        super().__init__(f"{controller} did not come to rest about {key} within {MOST_TURNS_AT_ONCE} turns")


class _Seat(NamedTuple):
    """A controller at work."""

    runner: ControllerRunner
    account: Account


class _Transport(MemoryTransport):
    """Deletes in the foreground without waiting for dependents, as no garbage collector runs in memory."""

    def __init__(self, cluster: InMemoryCluster, *, looks: bool) -> None:
        super().__init__(cluster)
        self._looks = looks
        self._before: dict[str, list[Manifest | None]] = {}

    def before(self, action: Action) -> Manifest | None:
        """The object as it was when an action was sent that is told of for the first time."""
        objects = self._before.get(requests.for_action(action).path) if self._looks else None
        return objects.pop(0) if objects else None

    @override
    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        is_told = self._looks and request.method in _CHANGING and "dryRun" not in request.query
        before = self._cluster.at(request.path) if is_told else None
        response = await super().send(request, timeout=timeout, may_send=may_send)
        if is_told and response.is_success:
            self._before.setdefault(request.path, []).append(before)
        if request.method == "DELETE" and response.is_success:
            self._let_go(response.body)
        return response

    def _let_go(self, deleted: Mapping[str, Any]) -> None:
        finalizers = (deleted.get("metadata") or {}).get("finalizers") or ()
        resource = self._cluster.resource_of(Kind.of(deleted)) if FOREGROUND in finalizers else None
        if resource is not None:
            others = [name for name in finalizers if name != FOREGROUND]
            self._cluster.adopt(resource, key_of(deleted), {"finalizers": others})


class Simulation:
    """Controllers at work in in-memory clusters."""

    def __init__(
        self,
        loop: CalendarLoop,
        clusters: Mapping[Cluster, InMemoryCluster],
        controllers: Sequence[Controller[Any]],
        *,
        namespaces: Sequence[str] = (),
        jitter: Callable[[], float] = lambda: 0.0,
        looks_before: bool = False,
    ) -> None:
        """A simulation in which no key waits.

        Args:
            loop: what everything runs in; the simulation closes it.
            clusters: what the controllers look after.
            controllers: who is at work.
            namespaces: what is seen of the cluster that is looked after; none: all.
            jitter: a number from 0 to less than 1 for each turn.
            looks_before: whether steps are to tell what their objects were before.
        """
        self._loop = loop
        self._jitter = jitter
        self._looks_before = looks_before
        self._tasks: list[asyncio.Task[None]] = []
        self._seats: list[_Seat] = []
        self._seats = loop.run_until_complete(self._begun(clusters, controllers, tuple(namespaces)))
        self._settle()

    def __enter__(self) -> Self:
        """The simulation itself."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """Stop everything where it is."""
        # Who was interrupted has nothing to say any more.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.settle()
        self._loop.close()

    @property
    def due(self) -> datetime | None:
        """When the next key is looked at; none: never, unless something changes."""
        readings = [due for seat in self._seats if (due := seat.runner.queue.due) is not None]
        return self._loop.moment(min(readings)) if readings else None

    @property
    def conflicts(self) -> int:
        """How many times controllers, or keys of one, turned out to undo each other's work."""
        return sum(seat.account.conflicts for seat in self._seats)

    def look_at_everything(self) -> None:
        """Give every key a turn, in order."""
        for runner, _ in self._seats:
            for key in all_keys(runner.controller, runner.snapshot):
                runner.queue.add(key)

    def next_turn(self) -> Happening | None:
        """Take the next turn, and tell what has happened in it; none: no key waits at the moment.

        Raises:
            EndlessDecisionError: a decision goes on and on.
            CrashedTurnError: a decision has another defect, or took too long.
        """
        self._settle()
        waiting = [seat for seat in self._seats if seat.runner.queue]
        seat = next((seat for seat in waiting if not seat.runner.queue.gives_way), None)
        if seat is None:
            return None
        return self._turn(seat)

    def turn_of(self, key: ObjectKey) -> Happening:
        """Take a turn of a key of the only controller; nobody waits any more then but for what it leads to.

        Raises:
            EndlessDecisionError: the decision goes on and on.
            CrashedTurnError: the decision has another defect, or took too long.
        """
        self._settle()
        (seat,) = self._seats
        seat.runner.queue.release(key)
        seat.runner.queue.clear()
        seat.runner.queue.add(key)
        happening = self._turn(seat)
        self._settle()
        return happening

    @property
    def snapshot(self) -> StoreSnapshot:
        """What the only controller sees."""
        (seat,) = self._seats
        return seat.runner.snapshot

    def _turn(self, seat: _Seat) -> Happening:
        began = self._loop.utc_now()
        turn = self._loop.create_task(seat.runner.turn())
        self._loop.settle()
        turned = turn.result() if turn.done() else self._loop.run_until_complete(turn)
        steps, events, failures = tuple(seat.account.steps), tuple(seat.account.events), seat.account.failures
        name = seat.runner.controller.name
        return Happening(began, name, turned.key, steps, events, failures, turned.requeue_after)

    def _settle(self) -> None:
        """Let the caches see everything that was written."""
        self._loop.settle()
        for seat in self._seats:
            if seat.account.defect is not None:
                raise seat.account.defect
        for task in self._tasks:
            if task.done():
                task.result()

    async def _begun(
        self,
        clusters: Mapping[Cluster, InMemoryCluster],
        controllers: Iterable[Controller[Any]],
        namespaces: tuple[str, ...],
    ) -> list[_Seat]:
        transport = _Transport(clusters[Cluster.TARGET], looks=self._looks_before)
        transports = {Cluster.TARGET: transport, Cluster.SOURCE: transport}
        if clusters[Cluster.SOURCE] is not clusters[Cluster.TARGET]:
            transports[Cluster.SOURCE] = _Transport(clusters[Cluster.SOURCE], looks=self._looks_before)
        target = source = Access(transport, namespaces, is_lossless=True)
        if namespaces or transports[Cluster.SOURCE] is not transport:
            source = Access(transports[Cluster.SOURCE], is_lossless=True)
        caches = Caches(Clusters(target, source), random=random.Random(0).random)  # noqa: S311 -- hides nothing
        precedence = Precedence()
        seats = []
        for controller in controllers:
            account = Account(controller.name, lambda action: transports[action.cluster].before(action))
            runner = ControllerRunner(
                _of_what_may_be_absent(controller),
                caches,
                recorder=account,
                observer=account,
                precedence=precedence,
                decide=self._decided,
                guards_deletions=False,
                pause=0.0,
            )
            runner.start()
            seats.append(_Seat(runner, account))
        self._tasks.append(asyncio.create_task(caches.run()))
        await asyncio.gather(*(runner.begin() for runner, _ in seats))
        return seats

    def _decided(
        self, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> Plan | Decision:
        return controller.reconcile(key, snapshot, replace(context, jitter=self._jitter(), looks_once=True))


def _of_what_may_be_absent(controller: Controller[Any]) -> Controller[Any]:
    """A controller that begins although the clusters do not serve everything that it watches."""
    return replace(controller, watches=tuple(replace(watch, may_be_absent=True) for watch in controller.watches))
