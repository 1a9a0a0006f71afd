"""ControllerInstallations as decisions read them, and how each is deployed.

Source: controller-registration §2.3, §3.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from hedgerow.api.registrations import HELM
from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.objects import Manifest, is_terminating, key_of, resource_version_of
from hedgerow.machinery.reading import list_at, object_at, text_at

FINALIZER: Final = "core.gardener.cloud/controllerinstallation"
"""Held while something of the installation may be in the seed."""


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


def _deployment(holder: Mapping[str, Any]) -> Deployment:
    return Deployment(text_at(holder, "type") or "", holder.get("providerConfig"))
