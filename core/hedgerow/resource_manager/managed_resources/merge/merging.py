"""Merges a desired object into the live one, and decides whether it has to be written.

Labels of the ManagedResource are also injected into the pod and claim templates of workloads, of any kind; not into
selectors, which are immutable, nor into the templates of CronJobs.

Source: managed-resources §7.9, §8.1 to §8.3, §8.6; decision "steady state".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import (
    DESCRIPTION,
    DESCRIPTION_TEXT,
    ORIGIN,
    PRESERVE_REPLICAS,
    PRESERVE_RESOURCES,
    REFERENCE_PREFIX,
    is_ignored,
)
from hedgerow.machinery.failures import Problem, annotation_path
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import UnreadableError, object_at, texts_at, with_each, with_value
from hedgerow.resource_manager.managed_resources.autoscalers import NOT_SCALED, Scaling
from hedgerow.resource_manager.managed_resources.merge.additions import with_additions
from hedgerow.resource_manager.managed_resources.merge.kinds import kind_rule, selector_problem
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference, left_by_the_server
from hedgerow.resource_manager.managed_resources.server_defaults.rules import StorageRule


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the ManagedResource, its status and the autoscalers say about one object."""

    origin: str
    """Value of the origin annotation."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels to inject."""
    previous_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels when the manifest was applied last, injected ones included."""
    previous_annotations: Mapping[str, str] = field(default_factory=dict)
    overwrite_labels: bool = False
    """True if labels that the manifest does not have are removed."""
    overwrite_annotations: bool = False
    scaling: Scaling = NOT_SCALED
    """What autoscalers set."""


@dataclass(frozen=True, slots=True)
class CreateObject:
    """The object has to be created."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class UpdateObject:
    """The object has to be written over the live one, with its resource version."""

    manifest: Manifest
    because: tuple[Difference, ...]
    """What the update changes; empty if it is sent only because updates are always sent."""


@dataclass(frozen=True, slots=True)
class LeaveObject:
    """The live object is as desired."""


Application: TypeAlias = CreateObject | UpdateObject | LeaveObject


def application(
    desired: Manifest,
    live: Manifest | None,
    instructions: Instructions,
    *,
    rule: StorageRule | None = None,
    settled: tuple[Difference, ...] = (),
    always_update: bool = False,
) -> Result[Application, Problem]:
    """The write that applies one object of a manifest.

    Args:
        desired: the object as the manifest has it, without injected labels.
        live: the object in the cluster.
        instructions: for the merge.
        rule: how the server stores a custom resource; the rules of built-in kinds are known.
        settled: differences that the server made after the last write; an object with only these is left.
        always_update: True if an existing object is written even if that changes nothing.
    """
    if is_ignored(desired):
        return Success(_application_of_ignored(desired, live))
    result = merge(desired, live, instructions)
    if live is None:
        return result.map(CreateObject)
    if isinstance(result, Failure):
        return Failure(result.failure())
    try:
        merged = with_additions(result.unwrap(), live)
        found = left_by_the_server(merged, live, rule)
    except RecursionError:
        return Failure(Problem("", "object is nested too deep to be compared"))
    if found == settled:
        found = ()
    return Success(UpdateObject(merged, found) if found or always_update else LeaveObject())


def _application_of_ignored(desired: Manifest, live: Manifest | None) -> Application:
    """An ignored object is only created; an existing one loses the annotation that forbids people to edit it."""
    if live is None:
        return CreateObject(desired)
    found = annotations_of(live)
    if DESCRIPTION not in found:
        return LeaveObject()
    annotations = {key: value for key, value in found.items() if key != DESCRIPTION}
    released = {**live, "metadata": {**live["metadata"], "annotations": annotations}}
    return UpdateObject(released, (Difference(annotation_path(DESCRIPTION), None, found[DESCRIPTION]),))


def merge(desired: Manifest, live: Manifest | None, instructions: Instructions) -> Result[Manifest, Problem]:
    """The object to write: the desired one, with those members of the live one that the manifest does not decide.

    Both objects stay unchanged; the result shares members with them.

    Args:
        desired: the object as the manifest has it, without injected labels.
        live: the object in the cluster.
        instructions: for the merge.
    """
    try:
        for name in ("labels", "annotations"):
            for key, value in object_at(desired, "metadata", name).items():
                if not isinstance(value, str):
                    return Failure(Problem("", f'metadata.{name}["{key}"] must be a string'))
        if problem := selector_problem(desired):
            return Failure(problem)
        current = desired if live is None else live
        merged: Manifest = _with_metadata(with_injected_labels(desired, instructions.labels), current, instructions)
        if rule := kind_rule(desired):
            merged = rule(merged, current, _scaling(desired, instructions.scaling))
    except UnreadableError as error:
        return Failure(error.problem)
    return Success(merged)


def with_injected_labels(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """The object with labels at itself and in its templates; they replace those of the manifest.

    Raises:
        UnreadableError: labels, or what they stand in, have another shape.
    """
    if not labels:
        return manifest
    injected = _labelled(manifest, labels)
    if object_at(manifest, "spec").get("template") is not None:
        injected = _labelled(injected, labels, "spec", "template")
    return with_each(injected, ("spec", "volumeClaimTemplates"), lambda claim: _labelled(claim, labels))


def _labelled(manifest: Manifest, labels: Mapping[str, str], *path: str) -> Manifest:
    place = (*path, "metadata", "labels")
    return with_value(manifest, place, {**texts_at(manifest, *place), **labels})


def _with_metadata(desired: Manifest, live: Manifest, instructions: Instructions) -> dict[str, Any]:
    """The desired object with the live one's metadata and status, and the labels and annotations of both merged."""
    labels, annotations = (texts_at(desired, "metadata", name) for name in ("labels", "annotations"))
    if not instructions.overwrite_labels:
        labels = merged_map(labels, texts_at(live, "metadata", "labels"), instructions.previous_labels)
    if not instructions.overwrite_annotations:
        found = texts_at(live, "metadata", "annotations").items()
        # References to ConfigMaps and Secrets come from the manifest alone.
        current = {key: value for key, value in found if not key.startswith(REFERENCE_PREFIX)}
        annotations = merged_map(annotations, current, instructions.previous_annotations)
    metadata = {**(object_at(live, "metadata") or object_at(desired, "metadata"))}
    _set_or_remove(metadata, "labels", labels)
    metadata["annotations"] = {**annotations, DESCRIPTION: DESCRIPTION_TEXT, ORIGIN: instructions.origin}
    merged = {**desired, "metadata": metadata}
    status = live.get("status")
    _set_or_remove(merged, "status", status if isinstance(status, (dict, Mapping)) else None)
    return merged


def merged_map(desired: Mapping[str, str], current: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """Three-way merge: the current entries, overlaid with the desired ones, without those that the manifest dropped.

    A dropped entry whose value somebody has changed since it was applied stays.
    """
    merged = {**current, **desired}
    for key, value in previous.items():
        if key not in desired and current.get(key) == value:
            merged.pop(key, None)
    return merged


def _set_or_remove(members: dict[str, Any], name: str, value: Mapping[str, Any] | None) -> None:
    if value:
        members[name] = value
    else:
        members.pop(name, None)


def _scaling(desired: Manifest, scaled: Scaling) -> Scaling:
    """What stays as it is in the cluster, because autoscalers set it or annotations ask for it."""
    annotations = annotations_of(desired)
    return Scaling(
        replicas=scaled.replicas or annotations.get(PRESERVE_REPLICAS) == "true",
        resources=scaled.resources or annotations.get(PRESERVE_RESOURCES) == "true",
    )
