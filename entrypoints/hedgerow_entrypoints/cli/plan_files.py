"""A cluster that consists of the objects of files, as controllers see it that plan: they do with it as they please."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import only_asks
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation import DecidedStep, SentAction
from hedgerow_adapters.simulation.simulation import Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from hedgerow_entrypoints.cli.planning import MOST_TURNS, subject_of, typed
from hedgerow_entrypoints.components.registry import NO_REMARKS, Remarks


class InFiles:
    """A controller at work on the objects of files, which are a cluster that it may do with as it pleases."""

    def __init__(
        self, controller: Controller[Any], simulation: Simulation, cluster: InMemoryCluster, remarks: Remarks
    ) -> None:
        """Nothing was done yet.

        Args:
            controller: who decides.
            simulation: of that controller alone; it tells what objects were before.
            cluster: what the files hold.
            remarks: what is said about its objects beside the plan.
        """
        self.controller = controller
        self.remarks = remarks
        self.snapshot = simulation.snapshot
        self._simulation = simulation
        self._cluster = cluster
        self._written: set[ObjectQuestion] = set()
        shown = [(controller.primary, controller.primary_cluster)] if not controller.periodic else []
        if controller.owned is not None:
            shown.append((controller.owned.resource, controller.owned.cluster))
        self._shown = {
            (watch.resource, watch.cluster): watch
            for watch in controller.watches
            if (watch.resource, watch.cluster) in shown
        }

    def planned(self, key: ObjectKey, _now: datetime) -> tuple[list[DecidedStep], Sequence[Failure]]:
        """Everything that is done about a key until nothing is left to do, but to wait for others."""
        steps = list[DecidedStep]()
        failures: Sequence[Failure] = ()
        for _ in range(MOST_TURNS):
            turn = self._simulation.turn_of(key)
            done = [DecidedStep(step.action, self._before(step)) for step in turn.steps if not step.error]
            steps += done
            refused = [
                Failure(step.action.resource, step.action.key, Problem("", f"is refused: {step.error}"))
                for step in turn.steps
                if step.error
            ]
            # What trying again cannot help holds on, though a later turn may have nothing new to say of it.
            lasting = (failure for failure in failures if not failure.retryable)
            failures = tuple(dict.fromkeys((*turn.failures, *refused, *lasting)))
            is_at_rest = all(only_asks(step.action) for step in done)
            if self.controller.periodic or is_at_rest or turn.again_after is None or refused:
                break
        return steps, failures

    def primary_object(self, key: ObjectKey) -> Manifest | None:
        """The whole object that a key names, as it would be by now."""
        resource = self.controller.primary
        return self._cluster.get(resource, key) if self._cluster.serves(resource) else None

    def _before(self, step: SentAction) -> Manifest | None:
        """The object before a step: as the controller watches it, unless it was written since."""
        subject, before = subject_of(step.action), step.before
        is_new = subject not in self._written
        self._written.add(subject)
        watch = self._shown.get((subject.resource, subject.cluster))
        if before is None or watch is None or not is_new:
            return before
        return typed(watch.transform(before), subject.resource)


@contextmanager
def in_files(
    controller: Controller[Any],
    cluster: InMemoryCluster,
    now: datetime,
    namespaces: Sequence[str] = (),
    remarks: Remarks = NO_REMARKS,
) -> Iterator[InFiles]:
    """A controller at work on what files hold.

    Args:
        controller: who decides.
        cluster: what the files hold.
        now: when all of it happens.
        namespaces: what is seen of the cluster; none: all.
        remarks: what is said about its objects beside the plan.
    """
    loop, clusters = CalendarLoop(now), dict.fromkeys(Cluster, cluster)
    with Simulation(loop, clusters, [controller], namespaces=namespaces, looks_before=True) as simulation:
        yield InFiles(controller, simulation, cluster, remarks)
