"""Lets controllers work in the in-memory cluster until nothing is left to do.

Round by round: all turns of a round are decided on one snapshot, then what their last plans want is carried out, and
then everything is decided again, with what the turns before have left in memory, as in a process. What earlier plans of
a turn want is carried out as soon as they are made, and what becomes of it is for the decision to deal with. What the
server refuses of a last plan is reported and not tried again; an action that comes too late, because another one of its
round was faster, is no more than a decision to be made anew.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster, is_visible
from hedgerow.machinery.controller import Controller, Watch, all_keys
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Plan, only_asks
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.simulation.mirror import seen_by
from hedgerow_adapters.simulation.surroundings import InMemory
from hedgerow_adapters.simulation.turns import decided, with_followed

MOST_ROUNDS: Final = 100
_TOO_LATE: Final = (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)
"""An object that is there already, is gone already, or is no longer as it was."""
_Clusters: TypeAlias = Mapping[Cluster, InMemoryCluster]
_Memories: TypeAlias = dict[tuple[str, ObjectKey], object]
"""What the last turn of each key left, by controller and key."""
_Identity: TypeAlias = tuple[ObjectKey, str]


@dataclass(frozen=True, slots=True)
class Step:
    """One action that was sent."""

    controller: str
    key: ObjectKey
    """What was reconciled."""
    action: Action
    refusal: str = ""
    """The server's words if it did not carry the action out."""

    def __str__(self) -> str:
        """The object and what the server said, as one sentence."""
        return f"{self.action.resource.kind} {self.action.key}: {self.refusal}"


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a cluster came to rest."""

    steps: tuple[Step, ...]
    """Without those that were refused while their decision went on, as that has dealt with it."""
    failures: tuple[DomainFailure, ...]
    is_settled: bool
    """Whether it came to rest at all."""


class _Turn(NamedTuple):
    """A turn of a round whose last plan is still to be carried out."""

    controller: str
    key: ObjectKey
    plan: Plan


def world_of(
    cluster: InMemoryCluster, controller: Controller[Any], namespaces: Sequence[str] = ()
) -> dict[Resource, Sequence[Manifest]]:
    """The objects of a cluster that a controller reads; none of a resource that it does not serve.

    Args:
        cluster: what is read.
        controller: who reads.
        namespaces: what is seen of the cluster; none: all.
    """
    return {
        watch.resource: [
            each
            for each in cluster.objects(watch.resource)
            if is_visible(watch.resource, key_of(each), namespaces) and watch.reads(each)
        ]
        for watch in controller.watches
        if cluster.serves(watch.resource)
    }


def settle(
    cluster: InMemoryCluster,
    controllers: Sequence[Controller[Any]],
    *,
    source: InMemoryCluster | None = None,
    namespaces: Sequence[str] = (),
) -> Settlement:
    """Run controllers until none of them has anything to do that the server does not refuse.

    Args:
        cluster: what they look after.
        controllers: who is run.
        source: the source cluster; none: it is the same.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    clusters = {Cluster.TARGET: cluster, Cluster.SOURCE: source or cluster}
    steps: list[Step] = []
    refused: set[_Identity] = set()
    failures: tuple[DomainFailure, ...] = ()
    memories: _Memories = {}
    for _ in range(MOST_ROUNDS):
        versions = _versions(clusters)
        done, turns = _decided(clusters, controllers, namespaces, memories)
        failures = tuple(failure for turn in turns for failure in turn.plan.failures)
        sent = [answered for turn in turns for answered in _sent(clusters, turn, refused)]
        if not sent and all(only_asks(step.action) for step in done):
            return Settlement(tuple(steps), failures, is_settled=True)
        # Where nothing has changed at all nobody was faster, and the next round would decide the same.
        has_changed = _versions(clusters) != versions
        counted = [
            step if answer.is_success else replace(step, refusal=str(answer.body["message"]))
            for step, answer in sent
            if not (has_changed and answer.status in _TOO_LATE)
        ]
        refused.update(_identity(step.action) for step in counted if step.refusal)
        steps += (*done, *counted)
    return Settlement(tuple(steps), failures, is_settled=False)


def snapshot_of(
    clusters: _Clusters, controller: Controller[Any], namespaces: Sequence[str] = ()
) -> tuple[Controller[Any], StoreSnapshot]:
    """What a controller sees of in-memory clusters, and itself as one that declares to watch what it follows.

    Args:
        clusters: what is read.
        controller: who reads.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}

    def snapshot(reader: Controller[Any]) -> StoreSnapshot:
        for watch in reader.watches:
            if watch.resource not in stores[watch.cluster]:
                indexes = [index for index in controller.indexes if is_over(index, watch)]
                stores[watch.cluster][watch.resource] = _read(clusters[watch.cluster], watch, namespaces, indexes)
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    declared = snapshot(controller)
    if not controller.follows:
        return controller, declared
    following = with_followed(controller, declared, InMemory(clusters))
    return following, snapshot(following)


def _read(
    cluster: InMemoryCluster, watch: Watch, namespaces: Sequence[str], indexes: Sequence[Index[Any]]
) -> ObjectStore:
    """What a watch keeps of the objects of a cluster; nothing if the cluster does not serve them."""
    store = ObjectStore(indexes)
    if cluster.serves(watch.resource):
        for manifest in filter(seen_by(watch, namespaces), cluster.objects(watch.resource)):
            store.put(watch.transform(manifest))
    return store


def _decided(
    clusters: _Clusters, controllers: Sequence[Controller[Any]], namespaces: Sequence[str], memories: _Memories
) -> tuple[list[Step], list[_Turn]]:
    """What was done in the course of the turns of one round, and what their last plans want."""
    surroundings, now = InMemory(clusters), clusters[Cluster.TARGET].now()
    done: list[Step] = []
    turns: list[_Turn] = []
    for controller, snapshot in [snapshot_of(clusters, each, namespaces) for each in controllers]:
        for key in all_keys(controller, snapshot):
            at = (controller.name, key)
            decision = decided(controller, key, snapshot, now, surroundings, memory=memories.get(at))
            memories[at] = decision.plan.memory
            done += (Step(controller.name, key, step.action) for step in decision.steps if step.is_done)
            turns.append(_Turn(controller.name, key, decision.plan))
    return done, turns


def _sent(clusters: _Clusters, turn: _Turn, refused: Collection[_Identity]) -> Iterator[tuple[Step, Response]]:
    """The answers to the actions of a last plan, but for those that were refused in a round before."""
    surroundings = InMemory(clusters)
    for action in turn.plan.actions:
        is_refused = _identity(action) in refused
        if not is_refused:
            answer = surroundings.send(action)
            is_refused = not answer.is_success
            yield Step(turn.controller, turn.key, action), answer
        if is_refused and turn.plan.in_order:
            return


def _versions(clusters: _Clusters) -> list[str]:
    return [cluster.resource_version for cluster in clusters.values()]


def _identity(action: Action) -> _Identity:
    return action.key, f"{action}"
