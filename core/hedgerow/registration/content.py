"""What a ControllerInstallation contains, and how it is named. Nothing decides by the hashes in its labels.

Source: controller-registration §3.4, §4.5.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    POD_SECURITY_ENFORCE,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource, annotations_of, key_of, labels_of, resource_version_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.plan import MergePatch
from hedgerow.machinery.reading import object_at
from hedgerow.registration.registrations import Registration, with_defaults

SPEC_HASH: Final = "specHash"
"""Field of a cached object: the hash of what the cache leaves out."""
_REQUIRED_OF_SEEDS: Final[Mapping[str, Any]] = {
    "dns": {},
    "networks": {"pods": "", "services": ""},
    "provider": {"type": "", "region": ""},
}
"""What the reference writes of every Seed, even if it is empty."""
_LONGEST_BASE: Final = 47
"""Of a name, so that the namespace `extension-<name>` has a valid one."""
_REASONS: Final = {
    "registrationRef": "registration-changed",
    "deploymentRef": "deployment-changed",
    "seedRef": "seed-changed",
}


def spec_hash(value: Mapping[str, Any]) -> str:
    """A short hash of the texts, booleans and objects in an object; names, numbers, lists and nulls do not matter."""
    return _hash(value)[:16]


def seed_spec_hash(seed: Manifest) -> str:
    """The hash of a Seed's specification."""
    spec = object_at(seed, "spec")
    stated = {name: {**default, **object_at(seed, "spec", name)} for name, default in _REQUIRED_OF_SEEDS.items()}
    if spec.get("backup") is not None:
        stated["backup"] = {"secretRef": {}, **object_at(seed, "spec", "backup")}
    return spec_hash({**spec, **stated})


def registration_hash(registration: Manifest) -> str:
    """The hash of a ControllerRegistration's specification with its defaults; UnreadableError as readers say."""
    return spec_hash(object_at(with_defaults(registration), "spec"))


def deployment_hash(deployment: Manifest) -> str:
    """The hash of how a ControllerDeployment deploys."""
    return spec_hash({name: deployment.get(name) for name in ("type", "providerConfig")})


def _hash(value: Any) -> str:
    if isinstance(value, (dict, Mapping)):
        value = "".join(_hash(value[name]) for name in sorted(value))
    elif isinstance(value, bool):
        value = "true" if value else "false"
    elif not isinstance(value, str):
        return ""
    return hashlib.sha256(value.encode()).hexdigest()


def with_content(
    installation: Manifest, seed: Manifest, seed_hash: str, registration: Registration, deployment: Manifest | None
) -> Manifest:
    """The installation of a registration in a seed; other labels and annotations stay."""
    labels, annotations = {**labels_of(installation)}, {**annotations_of(installation)}
    labels["seed-spec-hash"] = seed_hash
    labels["registration-spec-hash"] = registration.manifest.get(SPEC_HASH) or registration_hash(registration.manifest)
    spec = {
        "seedRef": _reference(SEEDS, seed),
        "registrationRef": _reference(CONTROLLER_REGISTRATIONS, registration.manifest),
    }
    if deployment is None:
        labels.pop("deployment-hash", None)
    else:
        labels["deployment-hash"] = deployment.get(SPEC_HASH) or deployment_hash(deployment)
        spec["deploymentRef"] = _reference(CONTROLLER_DEPLOYMENTS, deployment)
    level = annotations_of(registration.manifest).get(POD_SECURITY_ENFORCE)
    if level is None:
        annotations.pop(POD_SECURITY_ENFORCE, None)
    else:
        annotations[POD_SECURITY_ENFORCE] = level
    metadata = {**installation["metadata"], "labels": labels}
    if annotations or annotations_of(installation):
        metadata["annotations"] = annotations
    return {**installation, "metadata": metadata, "spec": spec}


def _reference(resource: Resource, manifest: Manifest) -> dict[str, str]:
    version = resource_version_of(manifest)
    stated = {"resourceVersion": version} if version else {}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "name": key_of(manifest).name, **stated}


def new_installation(registration: str, seed: str, is_taken: Callable[[str], bool]) -> Manifest:
    """The name follows from registration and seed, so that of two processes that decide at once one is refused."""
    base = registration[:_LONGEST_BASE]
    hashes = (hashlib.sha256(f"{seed}/{registration}/{attempt}".encode()).hexdigest() for attempt in itertools.count())
    name = next(name for digest in hashes if not is_taken(name := f"{base}-{digest[:5]}"))
    return {
        "apiVersion": CONTROLLER_INSTALLATIONS.api_version,
        "kind": CONTROLLER_INSTALLATIONS.kind,
        "metadata": {"name": name, "generateName": f"{base}-"},
    }


def update(existing: Manifest, wanted: Manifest) -> Iterator[MergePatch]:
    """What makes an installation the wanted one, unless it is."""
    if patch := merge_patch(existing, wanted):
        changed = patch.get("spec", {})
        reason = next((reason for name, reason in _REASONS.items() if name in changed), "content-changed")
        version = resource_version_of(existing)
        yield MergePatch(CONTROLLER_INSTALLATIONS, key_of(existing), patch, reason, version, cluster=Cluster.SOURCE)
