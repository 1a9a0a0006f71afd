"""The transforms of live objects that ManagedResources manage, and when two versions of one are the same.

All objects of every managed kind are watched, and most belong to others. So a transform keeps only what tells whether
an object is healthy and has rolled out, whose it is, and whether anything but its status has changed. One table lists
the fields that the rules in `hedgerow.resource_manager.health` read.

Source: managed-resources §7.1, §10, §11.1, §12, §13.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from typing import Any, Final

from hedgerow.api.managed_resources import MANAGED_RESOURCES, ORIGIN, SKIP_HEALTH_CHECK, ClassFilter
from hedgerow.api.references import kinds_of_references, managed_resource_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Watch
from hedgerow.machinery.objects import (
    Kind,
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.reading import Fields, UnreadableError, fields_at, pruned
from hedgerow.machinery.remembering import shared_text
from hedgerow.machinery.snapshot import Index, Snapshot

_CONDITIONS: Final = tuple(f"status.conditions.{name}" for name in ("type", "status", "reason", "message"))
_REPLICAS: Final = fields_at("spec.replicas", "status.observedGeneration", "status.readyReplicas")

FIELDS_READ: Final[Mapping[Kind, Fields]] = {
    Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"): fields_at(*_CONDITIONS),
    Kind("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"): fields_at(*_CONDITIONS),
    Kind("apps/v1", "Deployment"): fields_at(
        "spec.replicas", "spec.selector.matchLabels", "status.observedGeneration", *_CONDITIONS
    ),
    Kind("apps/v1", "StatefulSet"): fields_at(
        "spec.replicas", "status.observedGeneration", "status.readyReplicas", "status.updatedReplicas"
    ),
    Kind("apps/v1", "DaemonSet"): fields_at(
        *("spec.updateStrategy.type", "spec.updateStrategy.rollingUpdate.maxUnavailable"),
        *("status.observedGeneration", "status.currentNumberScheduled", "status.desiredNumberScheduled"),
        *("status.numberMisscheduled", "status.numberUnavailable", "status.updatedNumberScheduled"),
    ),
    Kind("apps/v1", "ReplicaSet"): _REPLICAS,
    Kind("v1", "ReplicationController"): _REPLICAS,
    Kind("batch/v1", "Job"): fields_at(*_CONDITIONS),
    Kind("v1", "Pod"): fields_at("status.phase"),
    Kind("v1", "Service"): fields_at("spec.type", "status.loadBalancer.ingress"),
}
"""What the rules about health and progress read."""

_KEPT: Final[Mapping[Kind, Fields]] = {
    **FIELDS_READ,
    # Of autoscalers: their target, and what they scale.
    Kind("autoscaling/v2", "HorizontalPodAutoscaler"): fields_at("spec.scaleTargetRef"),
    Kind("autoscaling.k8s.io/v1alpha1", "Hvpa"): fields_at("spec.targetRef", "spec.hpa.deploy", "spec.vpa.deploy"),
    # Of webhooks: the objects that they may change.
    Kind("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): fields_at(
        "webhooks.matchPolicy", "webhooks.namespaceSelector", "webhooks.rules"
    ),
}

_SELECTED_BY_LABELS: Final = frozenset({Kind("v1", "Namespace")})
"""Kinds whose labels decide which webhooks are called."""

_GENERATION_STANDS_STILL: Final = frozenset({Kind("scheduling.k8s.io/v1", "PriorityClass")})
"""Kinds whose objects keep their first generation."""

_ANNOTATIONS: Final = (ORIGIN, SKIP_HEALTH_CHECK)
_IDENTITY: Final = ("name", "uid", "resourceVersion", "deletionTimestamp")
_DIGEST: Final = "labelsAndAnnotations"
"""Member of the transformed metadata. An API server stores no metadata of this name."""


def is_metadata_only(resource: Resource) -> bool:
    """True if only metadata is kept of a resource's objects."""
    return resource.object_kind not in _KEPT


@cache
def transform_of(resource: Resource) -> Callable[[Manifest], Manifest]:
    """The transform of a resource's objects; the same function for all watches, so that they share a cache."""
    fields = _KEPT.get(resource.object_kind, {})
    counts_generations = resource.object_kind not in _GENERATION_STANDS_STILL
    selects = resource.object_kind in _SELECTED_BY_LABELS

    def transform(live: Manifest) -> Manifest:
        metadata = _kept_metadata(live, counts_generations=counts_generations)
        if selects:
            labels = {shared_text(name): shared_text(value) for name, value in labels_of(live).items()}
            metadata |= {"labels": labels, _DIGEST: _digest(live)}
        return {"metadata": metadata, **pruned(live, fields)}

    return transform


def object_watch(resource: Resource, cluster_id: str, predicate: Callable[[Change], bool]) -> Watch:
    """The watch of objects that ManagedResources may manage; alike for everybody, so that they are kept once.

    ManagedResources of the cluster with the id are enqueued for changes, if these count, of objects of their origin.
    """

    def enqueue(live: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        found = managed_resource_of(live, cluster_id)
        return () if found is None else (found,)

    return Watch(resource, transform_of(resource), enqueue, predicate, metadata_only=is_metadata_only(resource))


@cache
def managed_kinds(class_filter: ClassFilter) -> Index[Kind]:
    """The ManagedResources that concern a class, by the kinds of their objects; the same index for all controllers."""

    def values(managed_resource: Manifest) -> set[Kind]:
        if not class_filter.passes(managed_resource):
            return set()
        try:
            return kinds_of_references(managed_resource)
        except UnreadableError:
            return set()  # its reconciliation fails; all others are still watched

    return Index("kinds of managed objects", MANAGED_RESOURCES, values, Cluster.SOURCE)


def fingerprint(live: Manifest) -> str:
    """Equal for two versions of a stored or transformed object if, and only if, nothing but their status can differ.

    If the server does not count generations, every version may differ.
    """
    metadata = live.get("metadata") or {}
    generation = metadata.get("generation")
    if not generation or Kind.of(live) in _GENERATION_STANDS_STILL:
        return f"{uid_of(live)}@{resource_version_of(live)}"
    return f"{uid_of(live)}#{generation}{digest_of_metadata(live)}"


def digest_of_metadata(live: Manifest) -> str:
    """Digest of labels and annotations of a stored or transformed object; empty if there are none."""
    return str((live.get("metadata") or {}).get(_DIGEST) or _digest(live))


def _kept_metadata(live: Manifest, *, counts_generations: bool) -> dict[str, Any]:
    """The identity of an object, our annotations, and the digest."""
    metadata = live.get("metadata") or {}
    kept = {name: metadata[name] for name in _IDENTITY if name in metadata}
    if namespace := metadata.get("namespace"):
        kept["namespace"] = shared_text(namespace)
    annotations = annotations_of(live)
    if ours := {name: annotations[name] for name in _ANNOTATIONS if name in annotations}:
        kept["annotations"] = ours
    if counts_generations and (generation := metadata.get("generation")):
        kept["generation"] = generation
        if digest := _digest(live):
            kept[_DIGEST] = digest
    return kept


def _digest(live: Manifest) -> str:
    """Digest of labels and annotations; empty if there are none."""
    labels, annotations = labels_of(live), annotations_of(live)
    if not labels and not annotations:
        return ""
    text = json.dumps((labels, annotations), sort_keys=True)
    return blake2b(text.encode(), digest_size=12).hexdigest()
