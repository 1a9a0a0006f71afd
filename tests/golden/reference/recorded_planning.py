"""One recorded planning of a seed, and what this project decides about the same garden."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.kubernetes import SECRETS
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
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, is_terminating, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Create, Delete, MergePatch, Plan
from hedgerow.machinery.questions import NOT_FOUND, Found, ListQuestion, NotAnswered
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.registration.planning import InstallationPlan, PlanningConfig, SeedInputs, plan_installations
from hedgerow.registration.seed_controller import reconcile, seed_controller, seed_inputs
from tests.executions import executed
from tests.golden.reference.recorded_extension import NOW

RESOURCES = {
    each.object_kind: each
    for each in (
        BACKUP_BUCKETS,
        BACKUP_ENTRIES,
        CONTROLLER_DEPLOYMENTS,
        CONTROLLER_INSTALLATIONS,
        CONTROLLER_REGISTRATIONS,
        SECRETS,
        SEEDS,
        SHOOTS,
    )
}
CONTROLLER = seed_controller(PlanningConfig())
DEMANDING = {"backupBuckets": "BackupBucket ", "backupEntries": "BackupEntry ", "shoots": "shoot ", "seed": "the seed"}

Recording = Mapping[str, Any]


class RecordedPlanning:
    """One recorded planning."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.snapshot = snapshot_of(CONTROLLER, recording["objects"]).unwrap()
        self.seed = self.snapshot.get(SEEDS, ObjectKey("", recording["seed"]), Cluster.SOURCE)

    @property
    def inputs(self) -> SeedInputs:
        assert self.seed is not None
        return seed_inputs(self.seed, self.snapshot)

    def plan(self) -> Plan:
        """What the controller does in the end."""
        key = ObjectKey("", self.recording["seed"])
        plan, _ = executed(reconcile(key, self.snapshot, Context(NOW, CONTROLLER.config)), self._answers)
        return plan

    def _answers(self, step: Step[Any]) -> Any:
        assert isinstance(step, AtOnce)
        objects = self.recording["objects"]
        return tuple(
            Found(tuple(each for each in objects if RESOURCES[Kind.of(each)] == question.resource))
            if isinstance(question, ListQuestion)
            else NotAnswered(404, NOT_FOUND, "the API is aggregated")
            for question in step.steps
        )

    def ids(self, planned: InstallationPlan) -> dict[str, list[str]]:
        """What each kind of object demands."""
        return {
            kind: sorted(
                id_ for id_, names in planned.demands.items() if any(name.startswith(prefix) for name in names)
            )
            for kind, prefix in DEMANDING.items()
        }

    def patched(self, plan: Plan) -> Iterator[Manifest]:
        """The installations that differ once they are patched, as they are then."""
        before = {
            key_of(each): each
            for each in self.recording["objects"]
            if RESOURCES[Kind.of(each)] == CONTROLLER_INSTALLATIONS
        }
        for action in plan.actions:
            if isinstance(action, MergePatch):
                after = shown(apply_merge_patch(before[action.key], action.patch), "name")
                if after != shown(before[action.key], "name"):
                    yield after


def shown(manifest: Manifest, name: str) -> dict[str, Any]:
    """Name, labels, annotations and references, as recordings show them; of references name and version."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    references = {
        field: {part: reference[part] for part in ("name", "resourceVersion") if part in reference}
        for field, reference in spec.items()
    }
    labels = {**metadata.get("labels", {})}
    if "deploymentRef" not in spec:
        labels.pop("deployment-hash", None)
    found = {name: metadata[name], "labels": labels, "annotations": metadata.get("annotations"), "spec": references}
    return {field: value for field, value in found.items() if value}


def check(recording: Recording) -> None:
    """The same types are demanded, the same registrations wanted, the same installations made, changed and deleted."""
    recorded = RecordedPlanning(recording)
    if recorded.seed is None:
        assert recording["ids"] is None
        assert recorded.plan() == Plan()
        return
    planned = plan_installations(recorded.inputs, CONTROLLER.config)
    is_stranger = any("unknown" in error for error in recording["errors"])
    if not is_stranger:
        assert recorded.ids(planned) == recording["ids"]
    plan = recorded.plan()
    missing = [error for error in recording["errors"] if error.startswith("need to install an extension controller")]
    if missing:
        told = [*map(str, plan.failures), *(event.note for event in plan.events)]
        for error in missing:
            assert any(error.split('"')[1] in text for text in told)
        return
    assert bool(plan.failures) is bool(recording["errors"])
    if is_stranger:
        assert plan.actions == ()
        return
    assert {*planned.wanted} == {*recording["wanted"]}
    created = [shown(action.manifest, "generateName") for action in plan.actions if isinstance(action, Create)]
    assert by_name(created) == by_name(shown(each, "generateName") for each in flat(recording["created"]))
    assert by_name(recorded.patched(plan)) == by_name(shown(each, "name") for each in flat(recording["patched"]))
    terminating = {key_of(each).name for each in recording["objects"] if is_terminating(each)}  # deleted again there
    deleted = {action.key.name for action in plan.actions if isinstance(action, Delete)}
    assert deleted == {*recording["deleted"]} - terminating


def flat(entries: Iterable[Mapping[str, Any]]) -> Iterator[Manifest]:
    """Recorded installations as manifests."""
    for entry in entries:
        yield {"metadata": {name: value for name, value in entry.items() if name != "spec"}, "spec": entry["spec"]}


def by_name(installations: Iterable[Manifest]) -> list[Manifest]:
    return sorted(installations, key=lambda each: each["spec"]["registrationRef"]["name"])
