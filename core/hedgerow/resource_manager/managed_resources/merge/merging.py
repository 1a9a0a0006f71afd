"""What is written in place of a live object so that it follows its manifest and keeps what is not the manifest's.

Nothing but the two objects and the instructions decide; both stay as they are, and what is returned shares with them
what it took over.

Pods and PersistentVolumeClaims get injected labels through the template fields of workloads, of whatever kind.
Selectors are left alone, for they cannot be changed, and so are the templates of CronJobs.

Source: managed-resources §7.9, §8.1 to §8.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import (
    DESCRIPTION,
    DESCRIPTION_TEXT,
    ORIGIN,
    PRESERVE_REPLICAS,
    PRESERVE_RESOURCES,
    REFERENCE_PREFIX,
)
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import UnreadableError, object_at, texts_at, with_each, with_value
from hedgerow.resource_manager.managed_resources.autoscalers import NOT_SCALED, Scaling
from hedgerow.resource_manager.managed_resources.merge.kinds import kind_rule
from hedgerow.resource_manager.managed_resources.merge.selectors import selector_problem


def with_injected_labels(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """The object with labels at itself and in its templates, where they replace what stands there.

    Args:
        manifest: the object; it stays as it is, and what is returned shares with it what does not change.
        labels: what to add; the object itself is returned if there are none.

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
    """The object with labels added to the metadata below a path."""
    place = (*path, "metadata", "labels")
    return with_value(manifest, place, {**texts_at(manifest, *place), **labels})


def merged_map(desired: Mapping[str, str], current: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """What there is, overlaid with what is desired, without what the manifest once set and has dropped.

    A value that somebody changed since it was set stays, even though the manifest has dropped it.

    Args:
        desired: what the manifest says.
        current: what stands at the live object.
        previous: what the manifest said when it was applied last.
    """
    dropped = (key for key, value in previous.items() if key not in desired and current.get(key) == value)
    merged = {**current, **desired}
    for key in dropped:
        merged.pop(key, None)
    return merged


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the ManagedResource, its status and the autoscalers say about one object."""

    origin: str
    """The ManagedResource, as the origin annotation names it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels to inject: those of the ManagedResource, and who manages the object."""
    previous_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels in the manifest when it was applied last, those injected included."""
    previous_annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations in the manifest when it was applied last."""
    overwrite_labels: bool = False
    """Whether labels that the manifest does not have are removed."""
    overwrite_annotations: bool = False
    """Whether annotations that the manifest does not have are removed."""
    scaling: Scaling = NOT_SCALED
    """What autoscalers set of the object."""


def merge(desired: Manifest, live: Manifest | None, instructions: Instructions) -> Result[Manifest, Problem]:
    """The object to write: the desired one, with what of the live one is not the manifest's to say.

    Args:
        desired: the object as the manifest has it, without injected labels.
        live: the object as it is in the cluster; none if it is yet to be created.
        instructions: what else has a say.
    """
    try:
        _check_texts(desired, "labels")
        _check_texts(desired, "annotations")
        _check_selectors(desired)
        injected = with_injected_labels(desired, instructions.labels)
        current = desired if live is None else live
        merged: Manifest = _with_metadata(injected, current, instructions)
        if rule := kind_rule(desired):
            merged = rule(merged, current, _scaling(desired, instructions.scaling))
    except UnreadableError as error:
        return Failure(error.problem)
    return Success(merged)


def _check_texts(desired: Manifest, field: str) -> None:
    """Labels and annotations hold texts alone; to drop one silently would be to drop what somebody asked for."""
    for key, value in object_at(desired, "metadata", field).items():
        if not isinstance(value, str):
            raise UnreadableError(Problem("", f'metadata.{field}["{key}"] must be a string'))


def _check_selectors(desired: Manifest) -> None:
    """A selector that the API server would empty is not sent to it."""
    if problem := selector_problem(desired):
        raise UnreadableError(problem)


def _with_metadata(desired: Manifest, live: Manifest, instructions: Instructions) -> dict[str, Any]:
    """The desired object as the live one: its metadata with labels and annotations merged, and its status if any."""
    labels, annotations = (texts_at(desired, "metadata", field) for field in ("labels", "annotations"))
    if not instructions.overwrite_labels:
        labels = merged_map(labels, texts_at(live, "metadata", "labels"), instructions.previous_labels)
    if not instructions.overwrite_annotations:
        found = texts_at(live, "metadata", "annotations").items()
        # What refers to ConfigMaps and Secrets is the manifest's alone.
        current = {key: value for key, value in found if not key.startswith(REFERENCE_PREFIX)}
        annotations = merged_map(annotations, current, instructions.previous_annotations)
    metadata = {**(object_at(live, "metadata") or object_at(desired, "metadata"))}
    _set_or_remove(metadata, "labels", labels)
    metadata["annotations"] = {**annotations, DESCRIPTION: DESCRIPTION_TEXT, ORIGIN: instructions.origin}
    merged = {**desired, "metadata": metadata}
    status = live.get("status")
    _set_or_remove(merged, "status", status if isinstance(status, (dict, Mapping)) else None)
    return merged


def _set_or_remove(members: dict[str, Any], name: str, value: Mapping[str, Any] | None) -> None:
    """Empty objects are left out."""
    if value:
        members[name] = value
    else:
        members.pop(name, None)


def _scaling(desired: Manifest, scaled: Scaling) -> Scaling:
    """What of an object stays because autoscalers set it or because its annotations ask for that."""
    annotations = annotations_of(desired)
    return Scaling(
        replicas=scaled.replicas or annotations.get(PRESERVE_REPLICAS) == "true",
        resources=scaled.resources or annotations.get(PRESERVE_RESOURCES) == "true",
    )
