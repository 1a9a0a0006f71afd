"""Two clusters that keep what they are given, and turns of controllers in them, driven to their end."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, ApiError, Delete, Event, JsonPatch, MergePatch, Plan, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.steps import Step
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from tests.executions import LiveSnapshot, executed, performed, questions_in

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
Objects = dict[ObjectKey, Manifest]


@dataclass
class Clusters:
    """What two clusters store and serve, and what of it a controller has at hand."""

    target: dict[Resource, Objects] = field(default_factory=dict)
    """The resources that are served, with their objects."""
    source: dict[Resource, Objects] = field(default_factory=dict)
    followed: set[Resource] = field(default_factory=set)
    """Which of those that a controller follows are at hand."""
    unseen: set[ObjectKey] = field(default_factory=set)
    """Objects that what is at hand does not show yet."""
    refused: dict[ObjectKey, ApiError] = field(default_factory=dict)
    """Whose deletion or change is refused."""
    broken: Callable[[Question], bool] = lambda _question: False
    """Which questions nobody can answer."""
    breakage: NotAnswered = NotAnswered(500, "InternalError", "the server is on fire")  # noqa: RUF009 -- immutable
    """What is said of these."""
    lookups: dict[Kind, NotAnswered] = field(default_factory=dict)
    """Kinds of which nobody can tell how they are served."""

    @classmethod
    def of(
        cls,
        *,
        target: Mapping[Resource, Iterable[Manifest]] | None = None,
        source: Mapping[Resource, Iterable[Manifest]] | None = None,
        followed: Iterable[Resource] = (),
    ) -> "Clusters":
        return cls(_stored(target or {}), _stored(source or {}), set(followed))

    def put(self, resource: Resource, manifest: Manifest, cluster: Cluster = Cluster.TARGET) -> None:
        self.objects(cluster).setdefault(resource, {})[key_of(manifest)] = manifest

    def objects(self, cluster: Cluster) -> dict[Resource, Objects]:
        return self.target if cluster is Cluster.TARGET else self.source

    def look_up(self, kind: Kind, _cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        served = {resource.object_kind: resource for resource in self.target} | self.lookups
        return served.get(kind, NotAnswered(404, "NotFound", f"no matches for {kind}"))

    def snapshot(self, controller: Controller[Any]) -> StoreSnapshot:
        """What is at hand of all this."""
        followed = [
            watch
            for dynamic in controller.dynamic_watches
            for resource in self.target
            if resource.object_kind in self._named(dynamic.kinds)
            for watch in dynamic.watches(resource)
            if watch.resource in self.followed
        ]
        stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}
        for watch in (*controller.watches, *followed):
            over = (watch.resource, watch.cluster)
            indexes = [index for index in controller.indexes if (index.resource, index.cluster) == over]
            store = stores[watch.cluster][watch.resource] = ObjectStore(indexes)
            for key, manifest in self.objects(watch.cluster).get(watch.resource, {}).items():
                if key not in self.unseen:
                    store.put(watch.transform(manifest))
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    def _named(self, index: Any) -> set[Any]:
        objects = self.objects(index.cluster).get(index.resource, {})
        return {value for manifest in objects.values() for value in index.values(manifest)}

    def answer(self, question: Question) -> Answer:
        if self.broken(question):
            return self.breakage
        objects = self.objects(question.cluster).get(question.resource)
        if objects is None:
            return NotAnswered(404, "NotFound", "the server could not find the requested resource")
        match question:
            case ObjectQuestion(key=key):
                found = objects.get(key)
                if found is None:
                    return NotAnswered(404, "NotFound", f'{question.resource} "{key.name}" not found')
                return Found((_told(question.resource, found),))
            case ListQuestion():
                return Found(tuple(manifest for manifest in objects.values() if question.asks_for(manifest)))

    def carry_out(self, action: Action) -> WriteResult:
        if refusal := self.refused.get(action.key):
            return WriteResult(action, error=refusal)
        objects = self.objects(action.cluster).get(action.resource, {})
        stored = objects.get(action.key)
        if stored is None:
            return WriteResult(
                action, error=ApiError(404, "NotFound", f'{action.resource} "{action.key.name}" not found')
            )
        match action:
            case Delete(uid=uid, resource_version=version):
                if (uid, version) != (stored["metadata"].get("uid"), stored["metadata"].get("resourceVersion")):
                    return WriteResult(action, error=ApiError(409, "Conflict", "the precondition does not hold"))
                del objects[action.key]
                return WriteResult(action)
            case MergePatch(patch=patch, resource_version=version):
                assert version in {None, stored["metadata"].get("resourceVersion")}
                changed = apply_merge_patch(stored, patch)
            case JsonPatch(operations=operations):
                changed = apply_json_patch(stored, operations).unwrap()
            case Update(manifest=manifest):
                if manifest["metadata"].get("resourceVersion") != stored["metadata"].get("resourceVersion"):
                    return WriteResult(action, error=ApiError(409, "Conflict", "the object has been modified"))
                changed = manifest
            case _:
                raise AssertionError(action)
        objects[action.key] = changed
        return WriteResult(action, changed)


@dataclass(frozen=True)
class Course:
    """What happened in a turn."""

    end: Plan
    steps: Sequence[Step[Any]]
    questions: Sequence[Question]
    actions: Sequence[Action]
    """Those of the plan included, which are carried out as well."""
    events: Sequence[Event]

    @property
    def problems(self) -> list[str]:
        return [failure.problem.text for failure in self.end.failures]


def nothing(_steps: int) -> None:
    """Nobody does anything meanwhile."""


def take_turn(
    clusters: Clusters,
    controller: Controller[Any],
    key: ObjectKey,
    now: datetime = NOW,
    meanwhile: Callable[[int], None] = nothing,
) -> Course:
    """Let a controller decide about a key, and everything happen that it wants.

    Args:
        clusters: where it happens.
        controller: decides.
        key: what about.
        now: when.
        meanwhile: what others do while a step is performed; is told which it is, from 0.
    """
    performing = itertools.count()
    questions: list[Question] = []
    actions: list[Action] = []
    events: list[Event] = []

    def carry_out(action: Action) -> WriteResult:
        actions.append(action)
        return clusters.carry_out(action)

    def perform(step: Step[Any]) -> Any:
        questions.extend(questions_in(step))
        reply = performed(step, clusters, lambda: now, carry_out, events.extend)
        meanwhile(next(performing))
        snapshot.advance()
        return reply

    snapshot = LiveSnapshot(lambda: clusters.snapshot(controller))
    end, steps = executed(controller.reconcile(key, snapshot, Context(now, controller.config)), perform)
    for action in end.actions:
        carry_out(action)
    return Course(end, steps, questions, actions, [*events, *end.events])


def _stored(world: Mapping[Resource, Iterable[Manifest]]) -> dict[Resource, Objects]:
    return {resource: {key_of(manifest): manifest for manifest in manifests} for resource, manifests in world.items()}


def _told(resource: Resource, manifest: Manifest) -> Manifest:
    """An object as the answer to a question for it alone spells it."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
