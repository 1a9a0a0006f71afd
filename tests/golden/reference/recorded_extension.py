"""One recorded reconciliation of an Extension, with the objects around it. Time passes while it waits."""

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import yaml

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS
from hedgerow.api.kubernetes import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, is_terminating, key_of, labels_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, ApiError, Create, Delete, MergePatch, Plan, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import with_value
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.rsyslog_relp.cleaning import CleanerImages
from hedgerow.rsyslog_relp.lifecycle import LifecycleConfig, lifecycle_controller, reconcile
from hedgerow.rsyslog_relp.naming import CLEANER_MANAGED_RESOURCE
from tests.executions import LiveSnapshot, executed, performed

NOW = datetime(2026, 1, 2, 9, tzinfo=UTC)
LEGACY = "extension-shoot-rsyslog-relp-shoot"
Write: TypeAlias = tuple[str, str, str]
"""Kind, name and verb."""
TWO_SECONDS = timedelta(seconds=2)
RESOURCES = {each.object_kind: each for each in (CLUSTERS, EXTENSIONS, CONFIG_MAPS, SECRETS, MANAGED_RESOURCES)}
HEALTHY = [{"type": each, "status": "True"} for each in ("ResourcesApplied", "ResourcesHealthy")]
SAID = {
    "Internal": (500, "InternalError", "Internal error occurred: boom"),
    "Forbidden": (403, "Forbidden", '{resource} "{name}" is forbidden: no'),
    "Conflict": (409, "Conflict", '{resource} "{name}" has been modified'),
    "NotFound": (404, "NotFound", '{resource} "{name}" not found'),
}


class RecordedExtension:
    """An Extension, and API servers that behave as a recording says."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.recording = recording
        self.config = LifecycleConfig(CleanerImages(), recording["ignoreOperationAnnotation"])
        self.controller = lifecycle_controller(self.config)
        self.now = NOW
        self.objects: dict[tuple[Resource, ObjectKey], Manifest] = {}
        self.writes: list[Write] = []
        self._behaviour = recording["managedResource"]
        self._is_deployed = False
        self._reads = 0
        for manifest in (recording["extension"], *recording["objects"]):
            self.objects[RESOURCES[Kind.of(manifest)], key_of(manifest)] = manifest

    def is_admitted(self, old: Manifest | None) -> bool:
        """Whether a change to the Extension as it is brings a turn."""
        watch = self.controller.watches[0]
        versions = (old and watch.transform(old), watch.transform(self.recording["extension"]))
        return bool(concerned_keys(watch, Change(*versions), self.snapshot()))

    def snapshot(self) -> Snapshot:
        return snapshot_of(self.controller, self.objects.values()).unwrap()

    @property
    def extension(self) -> Manifest | None:
        """As it is by now."""
        return self.objects.get((EXTENSIONS, key_of(self.recording["extension"])))

    def writes_of_the_reference(self) -> list[Write]:
        """Those that are due here too: in place of an older extension's objects nothing is removed (D-4)."""
        due = (each for each in self.recording["writes"] if each["name"] != LEGACY)
        due = (each for each in due if each["kind"] == "ConfigMap" or each.get("patch") != {})
        return [(each["kind"], nameless(each["name"]), verb_of(each["verb"])) for each in due]

    def deployed(self) -> Any:
        """The cleaner as it is by now: ManagedResource, its Secrets, and the DaemonSet."""
        return deployed(
            [manifest for (resource, _), manifest in self.objects.items() if resource == MANAGED_RESOURCES],
            [decoded(manifest) for (resource, _), manifest in self.objects.items() if resource == SECRETS],
        )

    def deployed_by_the_reference(self) -> Any:
        """The same of the reference."""
        return deployed(self.recording["managedResources"], self.recording["secrets"])

    def reconcile(self) -> Plan:
        """The plan of the last turn, once nothing is waited for any more."""
        state: object = None
        while True:
            snapshot = LiveSnapshot(self.snapshot)

            def perform(step: Any, snapshot: LiveSnapshot = snapshot) -> Any:
                reply = performed(step, self, lambda: self.now)
                snapshot.advance()
                return reply

            key = key_of(self.recording["extension"])
            plan, _ = executed(reconcile(key, snapshot, Context(self.now, self.config, state)), perform)
            if plan.state is None or plan.failures:
                return plan
            state, self.now = plan.state, self.now + TWO_SECONDS

    def answer(self, question: Question) -> Answer:
        assert isinstance(question, ObjectQuestion)
        if question.resource == CUSTOM_RESOURCE_DEFINITIONS:
            return Found(({"metadata": {}},))  # none is being deleted
        resource, key = question.resource, question.key
        if problem := self._fault("get", resource, key):
            return NotAnswered(*problem)
        if key.name == CLEANER_MANAGED_RESOURCE and resource == MANAGED_RESOURCES and self._is_deployed:
            self._pass_time(key)
            if self._behaviour.get("vanishes"):
                return NotAnswered(*said("NotFound", resource, key))
        found = self.objects.get((resource, key))
        return Found((found,)) if found is not None else NotAnswered(*said("NotFound", resource, key))

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        raise AssertionError(f"nobody asks for {kind} in {cluster}")

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action; one that changes something, or is refused, is noted."""
        verb, place = type(action).__name__.replace("MergePatch", "Patch").lower(), (action.resource, action.key)
        problem = self._fault(verb, *place)
        if problem is None and place not in self.objects and not isinstance(action, Create):
            return WriteResult(action, error=ApiError(*said("NotFound", *place)))
        if place[0] != CONFIG_MAPS or verb != "delete":  # D-6
            self.writes.append((action.resource.kind, nameless(action.key.name), verb_of(verb)))
        if problem is not None:
            return WriteResult(action, error=ApiError(*problem))
        match action:
            case Create(manifest=manifest) | Update(manifest=manifest):
                self.objects[place] = manifest
                if action.resource == MANAGED_RESOURCES:
                    self._deployed(action.key)
            case MergePatch(patch=patch):
                self.objects[place] = apply_merge_patch(self.objects[place], patch)
            case Delete():
                self.objects[place] = with_value(self.objects[place], ("metadata", "deletionTimestamp"), "NOW")
        stored = self.objects[place]
        is_stuck = self._behaviour.get("stuck") and action.resource == MANAGED_RESOURCES
        if is_terminating(stored) and not (stored["metadata"].get("finalizers") or is_stuck):
            del self.objects[place]
        return WriteResult(action, stored)

    def _fault(self, verb: str, resource: Resource, key: ObjectKey) -> tuple[int, str, str] | None:
        faults = (each for each in self.recording["faults"] if (each["verb"], each["kind"]) == (verb, resource.kind))
        return next((said(each["error"], resource, key) for each in faults if each["name"] in {"", key.name}), None)

    def _deployed(self, key: ObjectKey) -> None:
        """What a resource manager says of the cleaner at first."""
        self._is_deployed = True
        if conditions := self._behaviour.get("conditions"):
            self._tell(key, {"conditions": conditions})

    def _pass_time(self, key: ObjectKey) -> None:
        """What it says by the next read."""
        self._reads += 1
        managed_resource = self.objects[MANAGED_RESOURCES, key]
        generation = managed_resource["metadata"].get("generation", 0)
        if self._behaviour.get("outdated"):
            self._tell(key, {"conditions": HEALTHY, "observedGeneration": generation - 1})
        elif 0 < self._behaviour.get("healthyAfter", 0) <= self._reads:
            self._is_deployed = False
            self._tell(key, {"conditions": HEALTHY, "observedGeneration": generation})

    def _tell(self, key: ObjectKey, status: Manifest) -> None:
        place = (MANAGED_RESOURCES, key)
        self.objects[place] = {**self.objects[place], "status": status}


def said(error: str, resource: Resource, key: ObjectKey) -> tuple[int, str, str]:
    """Code, reason and message of an error."""
    code, reason, message = SAID[error]
    return code, reason, message.format(resource=resource, name=key.name)


def verb_of(verb: str) -> str:
    """Create, update and patch count as one."""
    return "delete" if verb == "delete" else "write"


def nameless(name: str) -> str:
    """A name without the hash of its object's content, which holds a script of our own wording."""
    return re.sub(f"(?<={CLEANER_MANAGED_RESOURCE})-[0-9a-f]{{8}}$", "", name)


def deployed(managed_resources: Iterable[Manifest], secrets: Iterable[Manifest]) -> Any:
    """What is worth comparing of ManagedResources and Secrets."""
    return (
        {
            key_of(each).name: (
                labels_of(each),
                {**each["spec"], "secretRefs": [nameless(ref["name"]) for ref in each["spec"].get("secretRefs", ())]},
            )
            for each in managed_resources
            if key_of(each).name != LEGACY
        },
        {
            nameless(key_of(each).name): (labels_of(each), each.get("immutable", False), daemon_set_in(each))
            for each in secrets
        },
    )


def daemon_set_in(secret: Manifest) -> Any:
    """The DaemonSet in a decoded Secret, without what a client library leaves in; none if it holds none."""
    for manifest in secret["data"].values():
        if isinstance(manifest, dict):
            return without_defaults(manifest)
    return None


def without_defaults(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {
            name: without_defaults(each) for name, each in value.items() if name not in {"creationTimestamp", "status"}
        }
        return {name: each for name, each in kept.items() if each != {}}
    return [without_defaults(each) for each in value] if isinstance(value, list) else value


def decoded(secret: Manifest) -> Manifest:
    """A Secret with the objects that it holds; a script stands for itself."""
    content = {name: yaml.safe_load(b64decode(text)) for name, text in secret["data"].items() if name != "x"}
    for manifest in content.values():
        manifest["spec"]["template"]["spec"]["initContainers"][0]["command"][-1] = "SCRIPT"
    return {**secret, "data": content}
