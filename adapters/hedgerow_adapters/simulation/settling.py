"""Lets controllers work in the in-memory cluster until nothing is left to do.

Level by level: all decisions are made on one snapshot, then carried out, then made again. What the server refuses is
reported and not tried again; an action that comes too late, because another one of its round was faster, is no more
than a decision to be made anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from hedgerow.machinery.clusters import Cluster, is_visible
from hedgerow.machinery.controller import Controller, plans
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests

MOST_ROUNDS: Final = 100
_TOO_LATE: Final = (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)
"""An object that is there already, is gone already, or is no longer as it was."""
_Clusters: TypeAlias = Mapping[Cluster, InMemoryCluster]


@dataclass(frozen=True, slots=True)
class Step:
    """One action that was sent."""

    controller: str
    key: ObjectKey
    """What was reconciled."""
    action: Action
    refusal: str = ""
    """The server's words if it did not carry the action out."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a cluster came to rest."""

    steps: tuple[Step, ...]
    failures: tuple[DomainFailure, ...]
    is_settled: bool
    """Whether it came to rest at all."""


def world_of(
    cluster: InMemoryCluster, controller: Controller[Any], namespaces: Sequence[str] = ()
) -> dict[Resource, Sequence[Manifest]]:
    """The objects of a cluster that a controller reads.

    Args:
        cluster: what is read.
        controller: who reads.
        namespaces: what is seen of the cluster; none: all.
    """
    return {
        resource: [each for each in cluster.objects(resource) if is_visible(resource, key_of(each), namespaces)]
        for resource in (watch.resource for watch in controller.watches)
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
    refused: set[tuple[ObjectKey, str]] = set()
    failures: tuple[DomainFailure, ...] = ()
    for _ in range(MOST_ROUNDS):
        pending, failures = _decisions(clusters, controllers, namespaces)
        fresh = [step for step in pending if _identity(step) not in refused]
        if not fresh:
            return Settlement(tuple(steps), failures, is_settled=True)
        done = _carried_out(clusters, fresh)
        refused.update(_identity(step) for step in done if step.refusal)
        steps += done
    return Settlement(tuple(steps), failures, is_settled=False)


def _decisions(
    clusters: _Clusters, controllers: Sequence[Controller[Any]], namespaces: Sequence[str]
) -> tuple[list[Step], tuple[DomainFailure, ...]]:
    decided = [
        (controller, key, plan) for controller in controllers for key, plan in _plans(clusters, controller, namespaces)
    ]
    steps = [Step(controller.name, key, action) for controller, key, plan in decided for action in plan.actions]
    return steps, tuple(failure for _, _, plan in decided for failure in plan.failures)


def _plans(
    clusters: _Clusters, controller: Controller[Any], namespaces: Sequence[str]
) -> Iterator[tuple[ObjectKey, Any]]:
    target = world_of(clusters[Cluster.TARGET], controller, namespaces)
    source = world_of(clusters[Cluster.SOURCE], controller)
    return plans(controller, StoreSnapshot.of(controller, target, source), clusters[Cluster.TARGET].now())


def _carried_out(clusters: _Clusters, steps: Sequence[Step]) -> list[Step]:
    """The steps of one round with what the server said to them, without those that came too late.

    Where nothing has changed at all nobody was faster, and the next round would decide the same: then they count.
    """
    before = [cluster.resource_version for cluster in clusters.values()]
    answered = [(step, clusters[step.action.cluster].handle(requests.for_action(step.action))) for step in steps]
    has_changed = [cluster.resource_version for cluster in clusters.values()] != before
    return [
        step if answer.is_success else replace(step, refusal=str(answer.body["message"]))
        for step, answer in answered
        if not (has_changed and answer.status in _TOO_LATE)
    ]


def _identity(step: Step) -> tuple[ObjectKey, str]:
    return step.action.key, f"{step.action}"
