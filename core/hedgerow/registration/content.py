"""What a ControllerInstallation contains, and how it is named.

Source: controller-registration §4.5.
"""

import hashlib
import itertools
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    POD_SECURITY_ENFORCE,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    key_of,
    labels_of,
    resource_version_of,
)
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import Create, MergePatch
from hedgerow.registration.hashes import SPEC_HASH, deployment_hash
from hedgerow.registration.installations import Installation
from hedgerow.registration.registrations import Registration

SEED_HASH: Final = "seed-spec-hash"
REGISTRATION_HASH: Final = "registration-spec-hash"
DEPLOYMENT_HASH: Final = "deployment-hash"
_LONGEST_BASE: Final = 47
"""Of a name, so that the namespace `extension-<name>` has a valid one."""
_REASONS: Final = {
    "registrationRef": "registration-changed",
    "deploymentRef": "deployment-changed",
    "seedRef": "seed-changed",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What the installation of one registration in one seed is to have."""

    registration: str
    seed: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    @classmethod
    def of(cls, seed: Manifest, seed_hash: str, registration: Registration, deployment: Manifest | None) -> Self:
        """The content for the objects as they are; `seed_hash` is that of the Seed's specification."""
        name, level = key_of(seed).name, registration.pod_security_level
        spec = {
            "seedRef": _reference(SEEDS, name, resource_version_of(seed)),
            "registrationRef": _reference(CONTROLLER_REGISTRATIONS, registration.name, registration.resource_version),
        }
        labels = {SEED_HASH: seed_hash, REGISTRATION_HASH: registration.spec_hash}
        if deployment is not None:
            version = resource_version_of(deployment)
            spec["deploymentRef"] = _reference(CONTROLLER_DEPLOYMENTS, key_of(deployment).name, version)
            labels[DEPLOYMENT_HASH] = deployment.get(SPEC_HASH) or deployment_hash(deployment)
        annotations = {} if level is None else {POD_SECURITY_ENFORCE: level}
        return cls(registration.name, name, spec, labels, annotations)

    def laid_over(self, manifest: Manifest) -> Manifest:
        """The installation with this content; other labels and annotations stay."""
        labels = {name: text for name, text in labels_of(manifest).items() if name != DEPLOYMENT_HASH}
        annotations = {name: text for name, text in annotations_of(manifest).items() if name != POD_SECURITY_ENFORCE}
        metadata = {**manifest["metadata"], "labels": {**labels, **self.labels}}
        if self.annotations or annotations_of(manifest):
            metadata["annotations"] = {**annotations, **self.annotations}
        return {**manifest, "metadata": metadata, "spec": self.spec}


def creation(content: Content, reason: str, taken: Container[str]) -> Create:
    """Create an installation under a name that is not taken."""
    manifest = content.laid_over(
        {
            "apiVersion": CONTROLLER_INSTALLATIONS.api_version,
            "kind": CONTROLLER_INSTALLATIONS.kind,
            "metadata": {
                "name": _name(content, taken),
                "generateName": f"{content.registration[:_LONGEST_BASE]}-",
            },
        }
    )
    return Create(CONTROLLER_INSTALLATIONS, manifest, reason, Cluster.SOURCE)


def _name(content: Content, taken: Container[str]) -> str:
    """A name that follows from registration and seed, so that of two processes that decide at once one is refused."""
    names = (
        f"{content.registration[:_LONGEST_BASE]}-{hashlib.sha256(text.encode()).hexdigest()[:5]}"
        for text in (f"{content.seed}/{content.registration}/{attempt}" for attempt in itertools.count())
    )
    return next(name for name in names if name not in taken)


def update(content: Content, installation: Installation) -> Iterator[MergePatch]:
    """Give an installation its content, unless it has it."""
    patch = merge_patch(installation.manifest, content.laid_over(installation.manifest))
    if patch:
        changed = patch.get("spec", {})
        reason = next((reason for name, reason in _REASONS.items() if name in changed), "content-changed")
        key, version = ObjectKey("", installation.name), installation.resource_version or None
        yield MergePatch(CONTROLLER_INSTALLATIONS, key, patch, reason, version, cluster=Cluster.SOURCE)


def _reference(resource: Resource, name: str, version: str | None) -> dict[str, str]:
    stated = {"resourceVersion": version} if version else {}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "name": name, **stated}
