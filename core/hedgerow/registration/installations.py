"""ControllerInstallations as decisions read them, and how each is deployed.

Source: controller-registration §2.3, §3.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_REGISTRATIONS,
    HELM,
    INSTALLATION_NAME,
    SEED_NAMESPACE,
)
from hedgerow.machinery.conditions import condition_status
from hedgerow.machinery.controller import Change, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, keeping, list_at, object_at, text_at
from hedgerow.machinery.snapshot import Snapshot

FINALIZER: Final = "core.gardener.cloud/controllerinstallation"
"""Held while something of the installation may be in the seed."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One ControllerInstallation."""

    name: str
    is_terminating: bool
    registration: str
    seed: str
    deployment: str | None
    """Name of its ControllerDeployment; none: the registration says itself how it is deployed, if at all."""
    manifest: Manifest

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """The installation; UnreadableError names the field that cannot be read."""
        reference = object_at(manifest, "spec").get("deploymentRef")
        return cls(
            name=key_of(manifest).name,
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

    @property
    def holder(self) -> tuple[Resource, ObjectKey]:
        """Which object says how it is deployed: a ControllerDeployment, or its registration."""
        if self.deployment is None:
            return CONTROLLER_REGISTRATIONS, ObjectKey("", self.registration)
        return CONTROLLER_DEPLOYMENTS, ObjectKey("", self.deployment)

    def status_of(self, condition_type: str) -> str:
        """The status of a condition; empty: nobody has written it yet."""
        return condition_status(self.manifest, condition_type)


class Deployment(NamedTuple):
    """How an installation is deployed."""

    type: str
    provider_config: Any
    """As it is stored, unchecked."""

    @property
    def is_chart(self) -> bool:
        """True if the project deploys it; otherwise somebody else does (§7)."""
        return self.type == HELM


def deployment_of(installation: Installation, holder: Manifest | None) -> Deployment | None:
    """How an installation is deployed, as its holder says; none: that does not say it, or does not exist (§3.2)."""
    if holder is None:
        return None
    if installation.deployment is None:
        holder = object_at(holder, "spec", "deployment")
        if not text_at(holder, "type"):
            return None
    return Deployment(text_at(holder, "type") or "", holder.get("providerConfig"))


def is_chart(installation: Installation, holder: Manifest | None) -> bool:
    """True if the project deploys an installation, or may have deployed it: then it holds the finalizer (§3.2)."""
    try:
        deployment = deployment_of(installation, holder)
    except UnreadableError:
        return FINALIZER in installation.finalizers
    if deployment is None:
        return holder is None and FINALIZER in installation.finalizers
    return deployment.is_chart


_kept_of_managed_resource: Final = keeping(
    *(f"metadata.{name}" for name in ("namespace", "name", "uid", "generation")),
    "status.observedGeneration",
    "status.conditions",
    labels=(INSTALLATION_NAME,),
)
"""Of all controllers, so that they share a cache."""


def managed_resource_watch(predicate: Callable[[Change], bool]) -> Watch:
    """The watch of the ManagedResources in the seed, which enqueues the installations that they are of."""

    def installation_of(managed_resource: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
        name = labels_of(managed_resource)[INSTALLATION_NAME]
        return (ObjectKey("", name),) if name else ()

    return Watch(
        MANAGED_RESOURCES,
        _kept_of_managed_resource,
        installation_of,
        predicate,
        namespace=SEED_NAMESPACE,
        label_selector=INSTALLATION_NAME,
        may_be_absent=True,
    )


def is_for(seed: str, installation: Manifest) -> bool:
    """True if an installation is for a Seed, or cannot be read; an empty name stands for all Seeds."""
    try:
        return seed in {"", text_at(installation, "spec", "seedRef", "name")}
    except UnreadableError:
        return True


def own_keys(seed: str) -> Callable[[Manifest, Snapshot], tuple[ObjectKey, ...]]:
    """What a watch of installations enqueues: those that are for a Seed."""
    return lambda installation, _snapshot: (key_of(installation),) if is_for(seed, installation) else ()
