"""ControllerInstallations as decisions read them, and how each is deployed.

Source: controller-registration §2.3, §3.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS, HELM
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.controller import Watch, no_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, resource_version_of
from hedgerow.machinery.reading import UnreadableError, keeping, list_at, object_at, text_at
from hedgerow.registration.hashes import SPEC_HASH, deployment_hash
from hedgerow.registration.registrations import transform_registration

FINALIZER: Final = "core.gardener.cloud/controllerinstallation"
"""Held while something of the installation may be in the seed."""

_METADATA: Final = ("name", "uid", "resourceVersion", "generation", "deletionTimestamp", "finalizers")

transform_installation: Final = keeping(
    *(f"metadata.{name}" for name in (*_METADATA, "creationTimestamp", "labels", "annotations")),
    "spec",
    "status.conditions",
)
"""All of an installation but its provider status."""
_kept_of_deployment: Final = keeping(*(f"metadata.{name}" for name in _METADATA), "type")


def transform_deployment(deployment: Manifest) -> Manifest:
    """What decisions read of a ControllerDeployment: of chart and values, which are large, only the hash."""
    return {**_kept_of_deployment(deployment), SPEC_HASH: deployment_hash(deployment)}


HOLDERS: Final = (CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS)
"""What may say how installations are deployed."""
DEPLOYMENT_READS: Final = (
    Watch(CONTROLLER_REGISTRATIONS, transform_registration, no_key, cluster=Cluster.SOURCE),
    Watch(CONTROLLER_DEPLOYMENTS, transform_deployment, no_key, cluster=Cluster.SOURCE),
)
"""The watches of these, of which only the type is looked up."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One ControllerInstallation."""

    name: str
    resource_version: str
    is_terminating: bool
    registration: str
    """Name of its ControllerRegistration."""
    seed: str
    """Name of the Seed that it is for."""
    deployment: str | None
    """Name of its ControllerDeployment; none: the registration says itself how it is deployed, if at all."""
    manifest: Manifest

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """The installation; UnreadableError names the field that cannot be read."""
        reference = object_at(manifest, "spec").get("deploymentRef")
        return cls(
            name=key_of(manifest).name,
            resource_version=resource_version_of(manifest) or "",
            is_terminating=is_terminating(manifest),
            registration=text_at(manifest, "spec", "registrationRef", "name") or "",
            seed=text_at(manifest, "spec", "seedRef", "name") or "",
            deployment=None if reference is None else text_at(manifest, "spec", "deploymentRef", "name") or "",
            manifest=manifest,
        )

    @property
    def finalizers(self) -> Sequence[str]:
        """All of them, those of others too."""
        return list_at(self.manifest, "metadata", "finalizers")

    def status_of(self, condition_type: str) -> str:
        """The status of a condition; empty: nobody has written it yet."""
        return condition_status(self.manifest, condition_type)


@dataclass(frozen=True, slots=True)
class Deployment:
    """How an installation is deployed."""

    type: str
    provider_config: Any
    """As it is stored, unchecked."""

    @property
    def is_chart(self) -> bool:
        """True if the project deploys it; otherwise somebody else does (§7)."""
        return self.type == HELM


def deployment_of(
    installation: Installation, registration: Manifest | None, referred: Manifest | None
) -> Deployment | None:
    """How an installation is deployed; none: not by the project, or what would say it does not exist (§3.2).

    Args:
        installation: says whether it refers to a ControllerDeployment.
        registration: its ControllerRegistration, if that exists.
        referred: the ControllerDeployment that it refers to, if that exists.
    """
    if installation.deployment is not None:
        return None if referred is None else _deployment(referred)
    holder = {} if registration is None else object_at(registration, "spec", "deployment")
    return _deployment(holder) if text_at(holder, "type") else None


def is_for(seed: str, installation: Manifest) -> bool:
    """True if an installation is for a Seed, or cannot be read; an empty name stands for all Seeds."""
    try:
        return seed in {"", text_at(installation, "spec", "seedRef", "name")}
    except UnreadableError:
        return True


def holder_of(installation: Installation) -> tuple[Resource, ObjectKey]:
    """Which object says how an installation is deployed: a ControllerDeployment, or its registration."""
    if installation.deployment is None:
        return CONTROLLER_REGISTRATIONS, ObjectKey("", installation.registration)
    return CONTROLLER_DEPLOYMENTS, ObjectKey("", installation.deployment)


def is_chart(installation: Installation, holder: Manifest | None) -> bool:
    """True if the project deploys an installation, or may have deployed it: then it holds the finalizer (§3.2).

    Args:
        installation: of any type of deployment.
        holder: what says how it is deployed, if that exists.
    """
    try:
        deployment = deployment_of(installation, holder, holder)
    except UnreadableError:
        return FINALIZER in installation.finalizers
    if deployment is None:
        return holder is None and FINALIZER in installation.finalizers
    return deployment.is_chart


def _deployment(holder: Mapping[str, Any]) -> Deployment:
    return Deployment(text_at(holder, "type") or "", holder.get("providerConfig"))
