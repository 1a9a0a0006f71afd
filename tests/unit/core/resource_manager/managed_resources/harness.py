"""ManagedResources in an in-memory cluster, and the controller that applies them, one turn at a time.

The controller sees the cluster as its caches would show it, followed kinds included, and keeps its memory from turn to
turn. Every request is counted.
"""

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.kubernetes import LIMIT_RANGES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, conditions_of, find
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Action, Event, JsonPatch, Plan, RecordEvents, WriteResult, is_dry_run
from hedgerow.machinery.questions import Answer, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now, Pause, Step
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.memory.kinds import Kind as Served
from hedgerow_adapters.protocol import requests
from tests.executions import LiveSnapshot, executed, performed, questions_in
from tests.in_memory import InMemory, snapshot_of

KEY: Final = ObjectKey("default", "example")
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
SERVICES: Final = Resource("", "v1", "services", "Service")
EVENTS: Final = Resource("", "v1", "events", "Event")
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")
JOBS: Final = Resource("batch", "v1", "jobs", "Job")
INGRESSES: Final = Resource("networking.k8s.io", "v1", "ingresses", "Ingress")
CLAIMS: Final = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
THINGS: Final = Resource("things.dev", "v1", "things", "Thing")
GADGETS: Final = Resource("things.dev", "v1", "gadgets", "Gadget")
"""Whose server has them have a generation, and counts no change."""


def _with_what_a_webhook_adds(thing: dict[str, Any], _old: Manifest | None) -> None:
    thing["added"] = "by a webhook"


_KINDS: Final = (
    *DEFAULT_RESOURCES,
    Served(MANAGED_RESOURCES, has_status=True, has_generation=True, unconditional_update=False),
    Served(JOBS, has_status=True, has_generation=True),
    Served(CLAIMS, has_status=True),
    Served(LIMIT_RANGES),
    Served(THINGS, fields=None, completion=_with_what_a_webhook_adds),
    Served(GADGETS, has_generation=True, spec_differs=lambda *_: False),
)


def config_map(name: str, data: Manifest | None = None, namespace: str = "default", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "data": {"k": "v"} if data is None else data,
    }


def managed_resource(*secrets: str, name: str = KEY.name, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resources.gardener.cloud/v1alpha1",
        "kind": "ManagedResource",
        "metadata": {"name": name, "namespace": KEY.namespace},
        "spec": {"secretRefs": [{"name": each} for each in secrets], **spec},
    }


def secret(name: str = "secret", **data: str | Iterable[Manifest]) -> dict[str, Any]:
    """A Secret whose data keys hold texts, or objects."""
    texts = {key: value if isinstance(value, str) else _documents(value) for key, value in data.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": KEY.namespace},
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()},
    }


def _documents(objects: Iterable[Manifest]) -> str:
    return "".join(f"---\n{json.dumps(each)}\n" for each in objects)


class CrashError(Exception):
    """The process died."""


@dataclass(frozen=True)
class Report:
    """What happened in one turn."""

    plan: Plan
    outcomes: tuple[WriteResult, ...]
    questions: tuple[Question, ...]
    waits: int
    """How often the decision waited for answers or writes."""
    pauses: int = 0
    events: tuple[str, ...] = ()

    @property
    def writes(self) -> list[str]:
        actions = [each.action for each in self.outcomes if not is_dry_run(each.action)]
        return [f"{type(each).__name__} {each.resource.kind} {each.key}" for each in actions]

    @property
    def dry_runs(self) -> list[str]:
        actions = [each.action for each in self.outcomes if is_dry_run(each.action)]
        return [f"{each.resource.kind} {each.key}" for each in actions]

    @property
    def status_writes(self) -> int:
        return sum(isinstance(each.action, JsonPatch) and each.action.subresource == "status" for each in self.outcomes)

    @property
    def requests(self) -> int:
        return len(self.outcomes) + len(self.questions)


class Harness:
    """A cluster, or two, and one instance of the controller."""

    def __init__(
        self,
        config: ManagedResourceConfig | None = None,
        *,
        target: InMemoryCluster | None = None,
        source: InMemoryCluster | None = None,
    ) -> None:
        self.clock = SettableClock()
        self.target = target or new_cluster(self.clock)
        self.source = source or self.target
        self.controller = managed_resource_controller(config or ManagedResourceConfig())
        self.states: dict[ObjectKey, object] = {}
        self.caches_are_fresh = True
        """Whether a turn sees at each step what there is by then, or all the time what there was when it began."""
        self.before_step: Callable[[Step[Any]], None] = lambda _step: None
        self.before_write: Callable[[Action], None] = lambda _action: None
        self.after_write: Callable[[WriteResult], WriteResult] = lambda outcome: outcome
        self.answer: Callable[[Question], Answer | None] = lambda _question: None
        self.kind_answer: NotAnswered | None = None
        """What is answered when a kind is looked up; none: what the clusters tell."""

    def put(self, *manifests: Manifest, cluster: InMemoryCluster | None = None) -> None:
        """Create objects, or write them over what is there."""
        for manifest in manifests:
            chosen = cluster or self._home(manifest)
            resource = _resource(chosen, manifest)
            key = key_of(manifest)
            live = chosen.get(resource, key)
            if live is None:
                request = requests.create(resource, manifest, key.namespace)
            else:
                metadata = {**live["metadata"], **manifest["metadata"]}
                request = requests.update(resource, key, {**manifest, "metadata": metadata})
            response = chosen.handle(request)
            assert response.is_success, response.body

    def patch(self, resource: Resource, name: str, patch: Manifest, namespace: str = "default") -> None:
        """Change an object as somebody else does."""
        cluster = self.source if resource in (MANAGED_RESOURCES, SECRETS) else self.target
        key = ObjectKey(namespace if resource.namespaced else "", name)
        response = cluster.handle(requests.merge_patch(resource, key, patch))
        assert response.is_success, response.body

    def say(self, condition_type: str, status: str, reason: str, message: str = "Said.") -> None:
        """Have a condition say something, as another controller does."""
        stored = self.managed_resource()["status"].get("conditions", [])
        changed = [
            {**each, "status": status, "reason": reason, "message": message} if each["type"] == condition_type else each
            for each in stored
        ]
        patch = {"status": {"conditions": changed}}
        response = self.source.handle(requests.merge_patch(MANAGED_RESOURCES, KEY, patch, subresource="status"))
        assert response.is_success, response.body

    def annotate(self, **annotations: str | None) -> None:
        """Annotate the ManagedResource; names are given by their constants."""
        self.patch(MANAGED_RESOURCES, KEY.name, {"metadata": {"annotations": annotations}})

    def delete(self, resource: Resource, name: str, namespace: str = "default") -> None:
        cluster = self.source if resource in (MANAGED_RESOURCES, SECRETS) else self.target
        cluster.handle(requests.delete(resource, ObjectKey(namespace if resource.namespaced else "", name)))

    def get(self, resource: Resource, name: str, namespace: str = "default") -> Manifest | None:
        return self.target.get(resource, ObjectKey(namespace if resource.namespaced else "", name))

    def live(self, resource: Resource, name: str, namespace: str = "default") -> Manifest:
        found = self.get(resource, name, namespace)
        assert found is not None, f"{resource.kind} {namespace}/{name} does not exist"
        return found

    def managed_resource(self, key: ObjectKey = KEY) -> Manifest:
        found = self.source.get(MANAGED_RESOURCES, key)
        assert found is not None
        return found

    def condition(self, condition_type: str = "ResourcesApplied", key: ObjectKey = KEY) -> Condition:
        found = find(conditions_of(self.managed_resource(key)), condition_type)
        assert found is not None, condition_type
        return found

    def said(self, key: ObjectKey = KEY) -> dict[str, str]:
        """Status and reason of all conditions."""
        return {each.type: f"{each.status}/{each.reason}" for each in conditions_of(self.managed_resource(key))}

    def references(self, key: ObjectKey = KEY) -> list[str]:
        entries = self.managed_resource(key)["status"].get("resources", ())
        return [f"{each['kind']}/{each['name']}" for each in entries]

    def turn(self, key: ObjectKey = KEY, *, looks_once: bool = False) -> Report:
        """One turn of a key, carried out to its end."""
        clusters = {Cluster.TARGET: self.target, Cluster.SOURCE: self.source}
        surroundings = InMemory(clusters)
        snapshot = LiveSnapshot(self.caches)
        outcomes: list[WriteResult] = []
        questions: list[Question] = []
        events: list[Event] = []

        def carry_out(action: Action) -> WriteResult:
            self.before_write(action)
            outcomes.append(self.after_write(surroundings.carry_out(action)))
            return outcomes[-1]

        def perform(step: Step[Any]) -> Any:
            questions.extend(questions_in(step))
            self.before_step(step)
            reply = performed(step, _Answering(self, surroundings), self.clock, carry_out, events.extend)
            if self.caches_are_fresh and not isinstance(step, Now | Pause):
                snapshot.advance()
            return reply

        context = Context(
            self.clock(),
            self.controller.config,
            state=self.states.get(key),
            server_versions=frozenset({self.target.version}),
            looks_once=looks_once,
        )
        plan, steps = executed(self.controller.reconcile(key, snapshot, context), perform)
        for action in plan.actions:
            if carry_out(action).error and plan.in_order:
                break
        self.states[key] = plan.state
        pauses = sum(isinstance(step, Pause) for step in steps)
        told = (f"{event.type} {event.reason}: {event.note}" for event in (*events, *plan.events))
        return Report(plan, tuple(outcomes), tuple(questions), _waits(steps), pauses, tuple(told))

    def caches(self) -> Snapshot:
        """What the watched objects are like by now."""
        return snapshot_of({Cluster.TARGET: self.target, Cluster.SOURCE: self.source}, self.controller)[1]

    def restart(self) -> None:
        """A process that has just started remembers nothing."""
        self.states.clear()

    def _home(self, manifest: Manifest) -> InMemoryCluster:
        """ManagedResources live in the source cluster, and so do the Secrets in these tests."""
        return self.source if manifest["kind"] in {"ManagedResource", "Secret"} else self.target


def new_cluster(clock: SettableClock | None = None, *more: Served) -> InMemoryCluster:
    return InMemoryCluster(resources=(*_KINDS, *more), now=clock)


@dataclass(frozen=True)
class _Answering:
    """The clusters, but for what a test answers itself."""

    harness: Harness
    surroundings: InMemory

    def answer(self, question: Question) -> Answer:
        return self.harness.answer(question) or self.surroundings.answer(question)

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        return self.harness.kind_answer or self.surroundings.look_up(kind, cluster)

    def carry_out(self, action: Action) -> WriteResult:
        return self.surroundings.carry_out(action)


def _waits(steps: Iterable[Step[Any]]) -> int:
    """How often a decision has waited for the world."""
    return sum(not isinstance(step, Now | Pause | RecordEvents) for step in steps)


def _resource(cluster: InMemoryCluster, manifest: Manifest) -> Resource:
    found = cluster.resource_of(Kind.of(manifest))
    assert found is not None, manifest
    return found


def not_found(question: Question) -> NotAnswered:
    name = question.key.name if isinstance(question, ObjectQuestion) else ""
    return NotAnswered(404, "NotFound", f'{question.resource} "{name}" not found')
