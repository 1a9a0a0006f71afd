"""A garden and a seed as a recording describes them: what controllers read there, and what becomes of their writes."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    SEEDS,
)
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, MergePatch, Plan, WriteResult
from hedgerow.machinery.questions import NOT_FOUND, Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Snapshot
from tests.executions import LiveSnapshot, executed, performed

RESOURCES = {
    each.object_kind: each
    for each in (
        BACKUP_BUCKETS,
        BACKUP_ENTRIES,
        CONTROLLER_DEPLOYMENTS,
        CONTROLLER_INSTALLATIONS,
        CONTROLLER_REGISTRATIONS,
        MANAGED_RESOURCES,
        SEEDS,
        SHOOTS,
    )
}
ERRORS = {
    "internal": NotAnswered(500, "InternalError", "Internal error occurred: fault"),
    "forbidden": NotAnswered(403, "Forbidden", "no"),
}


class RecordedGarden:
    """Objects of both clusters, which fail to be read as a recording says."""

    def __init__(
        self,
        controller: Controller[Any],
        now: str,
        garden: Iterable[Manifest],
        seed: Iterable[Manifest] = (),
        unreadable: Mapping[Resource, str | None] | None = None,
    ) -> None:
        self.controller = controller
        self.now = datetime.fromisoformat(now)
        self.objects = {Cluster.SOURCE: _by_key(garden), Cluster.TARGET: _by_key(seed)}
        self._unreadable = {resource: ERRORS[error] for resource, error in (unreadable or {}).items() if error}

    def reconcile(self, key: ObjectKey) -> Plan:
        """One turn, carried out."""
        snapshot = LiveSnapshot(self.snapshot)

        def perform(step: Any) -> Any:
            reply = performed(step, self, lambda: self.now)
            snapshot.advance()
            return reply

        context = Context(self.now, self.controller.config)
        plan, _ = executed(self.controller.reconcile(key, snapshot, context), perform)
        for action in plan.actions:
            assert self.carry_out(action).error is None
        return plan

    def snapshot(self) -> Snapshot:
        """Caches that show everything but what cannot be read."""
        target, source = (
            [each for (resource, _), each in self.objects[cluster].items() if resource not in self._unreadable]
            for cluster in (Cluster.TARGET, Cluster.SOURCE)
        )
        return snapshot_of(self.controller, target, source).unwrap()

    def conditions(self, resource: Resource, name: str) -> Any:
        """The conditions of an object of the garden; none: it has none, or is gone."""
        found = self.objects[Cluster.SOURCE].get((resource, ObjectKey("", name)))
        return (found or {}).get("status", {}).get("conditions") or None

    def enqueued(self, recording: Mapping[str, Any]) -> set[str]:
        """The names that a recorded event enqueues."""
        kind, changed = Kind.of(recording["object"]), recording["object"]
        versions = {
            "create": (None, changed),
            "update": (recording["old"], changed),
            "delete": (changed, None),
        }[recording["event"]]
        keys: set[str] = set()
        for watch in self.controller.watches:
            if watch.resource.object_kind == kind:
                seen = [watch.transform(each) if each is not None and watch.reads(each) else None for each in versions]
                if seen != [None, None]:
                    keys |= {key.name for key in concerned_keys(watch, Change(*seen), self.snapshot())}
        return keys

    def answer(self, question: Question) -> Answer:
        assert isinstance(question, ObjectQuestion)
        if error := self._unreadable.get(question.resource):
            return error
        found = self.objects[question.cluster].get((question.resource, question.key))
        return Found((found,)) if found is not None else NotAnswered(404, NOT_FOUND, "not found")

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        raise AssertionError(f"nobody asks for {kind} in {cluster}")

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of a patch of a status."""
        assert isinstance(action, MergePatch)
        assert action.subresource == "status"
        place = (action.resource, action.key)
        self.objects[action.cluster][place] = apply_merge_patch(self.objects[action.cluster][place], action.patch)
        return WriteResult(action, self.objects[action.cluster][place])


def _by_key(manifests: Iterable[Manifest]) -> dict[tuple[Resource, ObjectKey], Manifest]:
    return {(RESOURCES[Kind.of(each)], key_of(each)): each for each in manifests}
