"""What is written in place of an object of a ManagedResource against what the reference sent to a real API server."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_BY, MANAGED_RESOURCES, MODE, ORIGIN, is_ignored
from hedgerow.api.references import GroupKind, identity_of, parse_origin
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, annotations_of, key_of, labels_of
from hedgerow.machinery.plan import JsonPatch
from hedgerow.resource_manager.managed_resources.autoscalers import scaled_objects
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.equivalences import equivalences
from hedgerow.resource_manager.managed_resources.merge.merging import (
    Instructions,
    LeaveObject,
    UpdateObject,
    application,
)
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.server_defaults.differences import left_by_the_server
from tests.golden.reference.recordings import cases
from tests.unit.core.resource_manager.turns import Clusters, take_turn

SET_BY_THE_SERVER = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}
BARE_BOOLEANS = {"y": True, "Y": True, "n": False, "N": False}
RECORDINGS = [*cases("managed-resources.jsonl")]


def is_released(desired: Manifest) -> bool:
    return annotations_of(desired).get(MODE) == "Ignore"


def is_about_a_release(case: Any) -> bool:
    """Whether a case is about an object that is let go; one that only tells of a missing recording is."""
    (recording,) = case.values
    return recording is None or is_released(recording["manifest"])


@pytest.mark.parametrize("recording", RECORDINGS)
def test_the_same_is_written(recording: Mapping[str, Any]) -> None:
    desired, live = as_the_reference_reads(recording["manifest"]), recording["live"]
    sent = next((write["body"] for write in recording["writes"] if write["verb"] == "update"), None)
    if is_released(desired):
        assert sent is None  # before anything is merged
        return

    applied = application(desired, live, instructions_of(recording)).unwrap()

    if sent is None or content(sent) == content(live):
        assert applied == LeaveObject()
    else:
        assert isinstance(applied, UpdateObject)
        assert left_by_the_server(applied.manifest, sent) == ()  # the audit log shows bodies with defaults
        assert kept(applied.manifest) == kept(sent)


@pytest.mark.parametrize("recording", RECORDINGS)
def test_labels_that_are_no_texts_fail_where_the_reference_drops_them_all(recording: Mapping[str, Any]) -> None:
    desired = as_read_from_the_secret(recording["manifest"])
    labels: Mapping[str, Any] = labels_of(desired)
    unreadable = [key for key, value in labels.items() if not isinstance(value, str)]
    if not unreadable or is_ignored(desired):
        return

    applied = application(desired, recording["live"], instructions_of(recording))

    assert str(applied.failure()) == f'metadata.labels["{unreadable[0]}"] must be a string'


@pytest.mark.parametrize("recording", [each for each in RECORDINGS if is_about_a_release(each)])
def test_the_same_is_left_of_what_is_released(recording: Mapping[str, Any]) -> None:
    desired, live = recording["manifest"], recording["live"]
    kind, key = Kind.of(desired), managed_resource_of(live)
    resource = Resource(kind.group, kind.api_version.rpartition("/")[2], "recorded", kind.kind)
    metadata = {"namespace": key.namespace, "uid": "1", "resourceVersion": "1"}
    (name,) = (each["name"] for each in recording["spec"]["secretRefs"])
    data = {"objects.json": base64.b64encode(json.dumps(desired).encode()).decode()}
    status = {**recording["status"], "resources": recording["previous"]}
    clusters = Clusters.of(
        target={resource: [live]},
        source={
            SECRETS: [{"metadata": {**metadata, "name": name}, "data": data}],
            MANAGED_RESOURCES: [
                {"metadata": {**metadata, "name": key.name}, "spec": recording["spec"], "status": status}
            ],
        },
    )

    course = take_turn(clusters, managed_resource_controller(ManagedResourceConfig()), key)

    released = [JsonPatch] if ORIGIN in annotations_of(live) else []
    assert [type(action) for action in course.actions if action.resource == resource] == released
    assert content(clusters.target[resource][key_of(live)]) == content(recording["after"])


def managed_resource_of(live: Manifest) -> ObjectKey:
    """The ManagedResource that an object comes from; any where it never was applied, as its mode was `Ignore`."""
    origin = annotations_of(live).get(ORIGIN)
    return ObjectKey("default", "recorded") if origin is None else parse_origin(origin).unwrap().managed_resource


def kept(manifest: Manifest) -> Any:
    """What a server would allocate to a Service if it were not sent, which no comparison after the fact can tell."""
    spec = manifest.get("spec", {}) if manifest["kind"] == "Service" else {}
    ports = [port.get("nodePort") for port in spec.get("ports", [])]
    return [spec.get(name) for name in ("clusterIP", "healthCheckNodePort", "loadBalancerIP")], ports


def content(manifest: Manifest) -> Manifest:
    """What is said of an object, but for what a server sets of itself whatever it is sent."""
    said = {name: value for name, value in manifest.items() if name != "status"}
    if manifest["kind"] == "Service":
        said["spec"] = {name: value for name, value in manifest["spec"].items() if name not in SET_BY_THE_SERVER}
    return {**said, "metadata": (labels_of(manifest), annotations_of(manifest))}


def as_read_from_the_secret(manifest: Manifest) -> Manifest:
    """The manifest as its document reads: the recording's texts stood there without quotes."""
    labels = {key: BARE_BOOLEANS.get(value, value) for key, value in labels_of(manifest).items()}
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def as_the_reference_reads(manifest: Manifest) -> Manifest:
    """The manifest without any label if one of them is no text (decision on non-string label values)."""
    read = as_read_from_the_secret(manifest)
    if all(isinstance(value, str) for value in labels_of(read).values()):
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {}}}


def instructions_of(recording: Mapping[str, Any]) -> Instructions:
    """What the recording's ManagedResource, its status and its autoscalers say about the object."""
    spec, desired = recording["spec"], recording["manifest"]
    extra = [[GroupKind(**kind) for kind in kinds] for kinds in spec.get("equivalences", [])]
    names = equivalences(extra)
    autoscalers: dict[str, list[Manifest]] = {}
    for autoscaler in recording["autoscalers"]:
        autoscalers.setdefault(autoscaler["kind"], []).append(autoscaler)
    scaled = scaled_objects(autoscalers.get("HorizontalPodAutoscaler", []), autoscalers.get("Hvpa", [])).unwrap()
    wanted = identity_of(desired)
    previous = {identity_of(flat(ref)): ref for ref in recording["previous"]}
    found = names.find(wanted, previous)
    before = previous[found] if found else {}
    return Instructions(
        origin=annotations_of(recording["after"]).get(ORIGIN, ""),
        labels={**spec.get("injectLabels", {}), MANAGED_BY: "gardener"},
        previous_labels=before.get("labels", {}),
        previous_annotations=before.get("annotations", {}),
        overwrite_labels=spec.get("forceOverwriteLabels", False),
        overwrite_annotations=spec.get("forceOverwriteAnnotations", False),
        scaling=scaled.scaling_of(wanted, names),
    )


def flat(reference: Mapping[str, Any]) -> Manifest:
    """A reference of a status as the object that it names."""
    return {**reference, "metadata": {name: reference.get(name, "") for name in ("namespace", "name")}}
