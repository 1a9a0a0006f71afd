"""One recorded reconciliation of a ControllerInstallation: both clusters, and what its chart was rendered to."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, TypeAlias

from hedgerow.api.kubernetes import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.reference_annotations import annotation_key
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    RENDERING,
    SEEDS,
)
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, ApiError, Create, Delete, MergePatch, Plan, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import object_at, with_value, without
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.garden_access import GardenAccess
from hedgerow.registration.installing import installation_controller
from tests.executions import LiveSnapshot, executed, performed
from tests.snapshots import snapshot_over

Recording: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[Cluster, Resource, ObjectKey]

OF_GARDEN = (SEEDS, CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS, CONTROLLER_INSTALLATIONS)
OF_SEED = (NAMESPACES, SECRETS, MANAGED_RESOURCES)
CLUSTERS = {"garden": Cluster.SOURCE, "seed": Cluster.TARGET}
VERBS: Mapping[type, str] = {Create: "create", Update: "update", MergePatch: "update", Delete: "delete"}


class RecordedInstallation:
    """An installation, and API servers that behave as a recording says."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        config = recording["config"]
        access = GardenAccess(config["gardenHost"], b64decode(config["gardenCA"]))
        self.config = InstallationConfig(
            seed=self._seed_name(),
            version=config["version"],
            garden_access=access.overridden(
                config.get("gardenAddress", ""), b64decode(config.get("gardenAddressCA", ""))
            ),
        )
        self.controller = installation_controller(self.config)
        self.objects: dict[Place, Manifest] = {}
        self.deletes: list[str] = []
        self.renders: list[RenderChart] = []
        self._version = 1_000_000
        identity = {"cluster-identity": config["gardenIdentity"]}
        for resource, manifest in (
            (NAMESPACES, {"metadata": {"name": "garden", "uid": "garden-uid"}}),
            (CONFIG_MAPS, {"metadata": {"namespace": "kube-system", "name": "cluster-identity"}, "data": identity}),
        ):
            self.objects[Cluster.SOURCE, resource, key_of(manifest)] = manifest
        for cluster, resources, manifests in (
            (Cluster.SOURCE, OF_GARDEN, recording["garden"]),
            (Cluster.TARGET, OF_SEED, recording["seed"]),
        ):
            by_kind = {resource.object_kind: resource for resource in resources}
            for manifest in manifests:
                self.objects[cluster, by_kind[Kind.of(manifest)], key_of(manifest)] = encoded(manifest)
        self.before = self.in_seed()

    def _seed_name(self) -> str:
        name = self.recording["installation"]
        (manifest,) = (each for each in self.recording["garden"] if each["metadata"]["name"] == name)
        return str(manifest["spec"]["seedRef"]["name"])

    @property
    def installation(self) -> Manifest | None:
        """As it is by now."""
        key = ObjectKey("", self.recording["installation"])
        return self.objects.get((Cluster.SOURCE, CONTROLLER_INSTALLATIONS, key))

    def in_seed(self) -> dict[tuple[str, ObjectKey], Manifest]:
        """All objects in the seed, decoded."""
        return {
            (resource.kind, key): decoded(manifest)
            for (cluster, resource, key), manifest in self.objects.items()
            if cluster is Cluster.TARGET
        }

    def reconcile(self) -> Plan:
        """The plan of one turn, carried out."""
        now = parse_timestamp(self.recording["now"])
        assert now is not None

        def perform(step: Any) -> Any:
            reply = performed(step, self, lambda: now, render=self._render)
            snapshot.advance()
            return reply

        snapshot = LiveSnapshot(self._snapshot)
        versions = frozenset({self.recording["config"]["kubeVersion"]})
        context = Context(now, self.config, server_versions=versions)
        plan, _ = executed(
            self.controller.reconcile(ObjectKey("", self.recording["installation"]), snapshot, context), perform
        )
        assert plan.is_empty
        return plan

    def _snapshot(self) -> Any:
        found = (each for place, each in self.objects.items() if place[1] == CONTROLLER_INSTALLATIONS)
        return snapshot_over(self.controller, source={CONTROLLER_INSTALLATIONS: found})

    def _render(self, step: RenderChart) -> RenderedChart:
        self.renders.append(step)
        (recorded,) = self.recording["renders"]
        if recorded["error"] is not None:
            return RenderError("chart", recorded["error"])
        files = {path: documents(text) for path, text in recorded["files"].items()}
        return tuple(RenderedFile(path, tuple(objects)) for path, objects in sorted(files.items()))

    def answer(self, question: Question) -> Answer:
        assert isinstance(question, ObjectQuestion)
        if question.resource == CUSTOM_RESOURCE_DEFINITIONS:
            return Found(({"metadata": {}},))  # none is being deleted
        if problem := self._fault("get", question.cluster, question.resource):
            return NotAnswered(*problem)
        place = (question.cluster, question.resource, question.key)
        found = self.objects.get(place)
        return Found((found,)) if found is not None else NotAnswered(*not_found(*place))

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        raise AssertionError(f"nobody asks for {kind} in {cluster}")

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action."""
        place = (action.cluster, action.resource, action.key)
        if problem := self._fault(VERBS[type(action)], action.cluster, action.resource):
            return WriteResult(action, error=ApiError(*problem))
        if place not in self.objects and not isinstance(action, Create):
            return WriteResult(action, error=ApiError(*not_found(*place)))
        match action:
            case Create(manifest=manifest) | Update(manifest=manifest):
                self.objects[place] = manifest
            case MergePatch(patch=patch, resource_version=version):
                assert version in {None, object_at(self.objects[place], "metadata").get("resourceVersion")}
                self.objects[place] = apply_merge_patch(self.objects[place], patch)
            case Delete():
                self.deletes.append(spelled(action.resource.kind, action.key))
                self.objects[place] = with_value(self.objects[place], ("metadata", "deletionTimestamp"), "NOW")
        if action.cluster is Cluster.SOURCE:
            self._version += 1
            path = ("metadata", "resourceVersion")
            self.objects[place] = with_value(self.objects[place], path, str(self._version))
        stored = self.objects[place]
        if is_terminating(stored) and not stored["metadata"].get("finalizers"):
            del self.objects[place]
            return WriteResult(action)
        return WriteResult(action, stored)

    def _fault(self, verb: str, cluster: Cluster, resource: Resource) -> tuple[int, str, str] | None:
        for fault in self.recording["faults"] or ():
            verb_of_fault = fault["verb"].replace("patch", "update")
            if (CLUSTERS[fault["cluster"]], verb_of_fault, fault["kind"]) == (cluster, verb, resource.kind):
                return 500, "InternalError", "Internal error occurred: fault"
        return None


def not_found(_cluster: Cluster, resource: Resource, key: ObjectKey) -> tuple[int, str, str]:
    return 404, "NotFound", f'{resource} "{key.name}" not found'


def spelled(kind: str, key: ObjectKey) -> str:
    """As `deletes` does."""
    return f"{kind} {key}"


def documents(text: str) -> list[Any]:
    """The objects in a text."""
    return [document.value for document in stream_documents(text) if document.value is not None]


def encoded(manifest: Manifest) -> Manifest:
    """The object as an API server has it: data of Secrets in base64."""
    if Kind.of(manifest) != SECRETS.object_kind or not manifest.get("data"):
        return manifest
    return {**manifest, "data": {name: b64encode(text.encode()).decode() for name, text in manifest["data"].items()}}


def decoded(manifest: Manifest) -> Manifest:
    """The object without what only an API server adds and what only we write, data of Secrets as texts."""
    kept = {name: value for name, value in manifest.items() if value not in ({}, None)}
    if manifest.get("kind") == SECRETS.kind:
        kept.pop("type", None)
        if "data" in kept:
            kept["data"] = {name: b64decode(text).decode() for name, text in kept["data"].items()}
    if RENDERING in object_at(manifest, "metadata", "annotations"):
        kept = without(kept, ("metadata", "annotations", RENDERING))
    return with_value(kept, ("metadata",), {name: value for name, value in kept["metadata"].items() if value != {}})


def without_checksum(value: Any, secret: str) -> Any:
    """The value with another name in place of a Secret's."""
    text = json.dumps(value).replace(annotation_key("secret", secret), "annotation")
    return json.loads(text.replace(secret, re.sub("[0-9a-f]{8}$", "checksum", secret)))
