"""What the reference deployed for ControllerInstallations, and which of their changes it followed."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any

import pytest

from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of
from hedgerow.machinery.reading import with_value
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.installations import FINALIZER
from hedgerow.registration.installing import installation_controller
from tests.golden.reference.recorded_installation import (
    RecordedInstallation,
    Recording,
    decoded,
    documents,
    encoded,
    spelled,
    without_checksum,
)
from tests.golden.reference.recordings import cases
from tests.snapshots import snapshot_over

GARDEN = "garden"
LONGEST_LINE = 80
WORKLOADS = re.compile(r"(apps|batch)/")
ADDED_BY_THE_REFERENCE: Mapping[str, tuple[Any, ...]] = {
    "status": ({},),
    "creationTimestamp": (None,),
    "strategy": ({},),
    "updateStrategy": ({},),
    "resources": ({},),
}
"""Fields that its typed round trip of workloads adds, and the values."""


@pytest.mark.parametrize("recording", [*cases("registration-installation.jsonl")])
def test_the_same_is_deployed(recording: Recording) -> None:
    if "unhandled object type" in (recording["error"] or ""):
        return  # which is left as it is (§8.8)
    recorded = RecordedInstallation(recording)
    installation = recorded.installation
    assert installation is not None
    is_held = FINALIZER in installation["metadata"].get("finalizers", ())
    if not recording["responsible"] and is_held:
        return  # whose deletion must not depend on its type (§8.10)

    plan = recorded.reconcile()

    if not recording["responsible"]:
        assert recorded.in_seed() == recorded.before
        assert recorded.installation == installation
        return
    assert bool(plan.failures) is (recording["error"] is not None)
    assert (plan.requeue_after or 0) == recording["requeueAfter"]
    compare_renders(recorded)
    compare_seed(recorded)
    compare_installation(recorded)


def compare_renders(recorded: RecordedInstallation) -> None:
    theirs = recorded.recording["renders"] or []
    assert [(step.release, step.namespace) for step in recorded.renders] == [
        (render["release"], render["namespace"]) for render in theirs
    ]
    for step, render in zip(recorded.renders, theirs, strict=True):
        ours = {**step.values, "gardener": {**step.values["gardener"], "gardenlet": None}}
        for part in ("garden", "seed"):
            added = {"identifier", "identity"}
            ours["gardener"][part] = {
                name: value for name, value in step.values["gardener"][part].items() if name not in added
            }
        assert ours == {**render["values"], "gardener": {**render["values"]["gardener"], "gardenlet": None}}


def compare_seed(recorded: RecordedInstallation) -> None:
    recording, before = recorded.recording, recorded.before
    terminating = {spelled(*place) for place, manifest in before.items() if is_terminating(manifest)}
    # What is on its way out is not deleted again.
    assert recorded.deletes == [each for each in recording["deletes"] if each not in terminating]
    expected = {place: manifest for place, manifest in before.items() if place not in map(gone, recording["gone"])}
    expected |= {placed(each): decoded(encoded(each)) for each in recording["written"] or ()}
    ours, theirs = comparable(recorded.in_seed(), recording), comparable(expected, recording)
    if any(fault["verb"] == "get" and fault["cluster"] == "seed" for fault in recording["faults"] or ()):
        # What is written before something else is read is a matter of order.
        theirs = [each for each in theirs if each in ours]
    assert ours == theirs


def gone(spelling: str) -> tuple[str, ObjectKey]:
    kind, *namespace, name = spelling.split(" ")
    return kind, ObjectKey("".join(namespace), name)


def placed(manifest: Manifest) -> tuple[str, ObjectKey]:
    return manifest["kind"], key_of(manifest)


def comparable(seed: Mapping[tuple[str, ObjectKey], Manifest], recording: Recording) -> Any:
    """All objects, their files parsed; without the checksum in the name of the Secret if its text may differ."""
    managed_resource = seed.get(("ManagedResource", ObjectKey(GARDEN, recording["installation"])), {})
    used = [reference["name"] for reference in managed_resource.get("spec", {}).get("secretRefs", ())]
    is_exact = has_exact_text(recording)
    # Beside the one in use there may be one of an earlier rendering.
    others = set() if is_exact else {ObjectKey(GARDEN, name) for name in secrets_beside(seed, used)}
    objects = [parsed(manifest) for (_, key), manifest in sorted(seed.items()) if key not in others]
    return objects if is_exact or not used else without_checksum(objects, used[0])


def secrets_beside(seed: Iterable[tuple[str, ObjectKey]], used: Collection[str]) -> set[str]:
    """The names of the Secrets of charts that are not in use."""
    return {key.name for kind, key in seed if (kind, key.namespace) == ("Secret", GARDEN)} - {*used}


def parsed(manifest: Manifest) -> Manifest:
    """The object, its files parsed; what has none counts as no file."""
    if (manifest["kind"], manifest["metadata"].get("namespace")) == ("Secret", GARDEN):
        files = {name: without_additions(documents(text)) for name, text in manifest.get("data", {}).items()}
        manifest = {**manifest, "data": {name: objects for name, objects in files.items() if objects}}
    return with_value(manifest, ("metadata", "deletionTimestamp"), "then") if is_terminating(manifest) else manifest


def has_exact_text(recording: Recording) -> bool:
    """Whether the reference changes nothing in the objects, drops no file, and folds no line."""
    texts = [text for render in recording["renders"] or () for text in (render.get("files") or {}).values()]
    objects = [documents(text) for text in texts]
    return (
        all(objects)
        and not any(len(line) > LONGEST_LINE for text in texts for line in text.splitlines())
        and not any(
            WORKLOADS.match(manifest.get("apiVersion", ""))
            and manifest["metadata"].get("namespace") == f"extension-{recording['installation']}"
            for manifest in chain.from_iterable(objects)
        )
    )


def without_additions(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: without_additions(each)
            for name, each in value.items()
            if name != "status" and each not in ADDED_BY_THE_REFERENCE.get(name, ())
        }
    return [without_additions(each) for each in value] if isinstance(value, list) else value


def compare_installation(recorded: RecordedInstallation) -> None:
    recording, installation = recorded.recording, recorded.installation
    if recording["finalizers"] is None:
        assert installation is None
        return
    assert installation is not None
    assert installation["metadata"].get("finalizers") == recording["finalizers"]
    ours, theirs = (
        [
            [condition[name] for name in ("type", "status", "reason", "lastTransitionTime")]
            for condition in conditions
            # Which the reference resets in a deletion.
            if not (is_terminating(installation) and condition["type"] in ("Valid", "Installed"))
        ]
        for conditions in (installation.get("status", {}).get("conditions", []), recording["conditions"])
    )
    assert ours == theirs
    installed = next(each for each in recording["conditions"] if each["type"] == "Installed")
    if is_terminating(installation) and installed["status"] != "Unknown":
        found = next(each for each in installation["status"]["conditions"] if each["type"] == "Installed")
        assert (found["status"], found["reason"]) == (installed["status"], installed["reason"])


@pytest.mark.parametrize("recording", [*cases("registration-events.jsonl")])
def test_the_same_changes_are_followed(recording: Recording) -> None:
    if recording["controller"] != "installation":
        return
    controller = installation_controller(InstallationConfig(seed="s1"))
    watch, _ = controller.watches
    old, new = (recording[each] and watch.transform(recording[each]) for each in ("old", "object"))
    change = Change(new, None) if recording["event"] == "delete" else Change(old, new)

    keys = concerned_keys(watch, change, snapshot_over(controller))

    if recording["passes"]:
        assert [key.name for key in keys] == recording["keys"]
    elif keys:
        # An event is not lost over a type that is not known, or not that of a chart (§8.2).
        reference = recording["object"]["spec"].get("deploymentRef", {}).get("name")
        types = {each["metadata"]["name"]: each.get("type") for each in recording["objects"]}
        assert types.get(reference) != "helm"
