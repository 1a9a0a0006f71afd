"""The registration of extensions: which controllers serve which kinds, and what is installed into which seed.

Source: controller-registration §2.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from hedgerow.api.gardener import EXTENSIONS, OPERATING_SYSTEM_CONFIGS, extension_resource
from hedgerow.machinery.objects import Resource


def core_resource(plural: str, kind: str, *, namespaced: bool = False) -> Resource:
    """A resource of Gardener's own API group, which a garden cluster serves."""
    return Resource("core.gardener.cloud", "v1beta1", plural, kind, namespaced)


BACKUP_BUCKETS: Final = core_resource("backupbuckets", "BackupBucket")
BACKUP_ENTRIES: Final = core_resource("backupentries", "BackupEntry", namespaced=True)
CONTROLLER_DEPLOYMENTS: Final = core_resource("controllerdeployments", "ControllerDeployment")
CONTROLLER_INSTALLATIONS: Final = core_resource("controllerinstallations", "ControllerInstallation")
CONTROLLER_REGISTRATIONS: Final = core_resource("controllerregistrations", "ControllerRegistration")
SEEDS: Final = core_resource("seeds", "Seed")

EXTENSION_KINDS: Final[Mapping[str, Resource]] = MappingProxyType(
    {
        resource.kind: resource
        for resource in (
            extension_resource("backupbuckets", "BackupBucket", namespaced=False),
            extension_resource("backupentries", "BackupEntry", namespaced=False),
            extension_resource("bastions", "Bastion"),
            extension_resource("containerruntimes", "ContainerRuntime"),
            extension_resource("controlplanes", "ControlPlane"),
            extension_resource("dnsrecords", "DNSRecord"),
            EXTENSIONS,
            extension_resource("infrastructures", "Infrastructure"),
            extension_resource("networks", "Network"),
            OPERATING_SYSTEM_CONFIGS,
            extension_resource("workers", "Worker"),
        )
    }
)
"""The kinds that a ControllerRegistration may list, and the resource of each in a seed."""

POD_SECURITY_ENFORCE: Final = "security.gardener.cloud/pod-security-enforce"
"""Annotation of a ControllerRegistration, and of its installations: the level that their namespaces enforce."""
INSTALLATION_NAME: Final = "controllerinstallation-name"
"""Label of a ManagedResource in a seed: the ControllerInstallation that it delivers."""
REGISTRATION_NAME: Final = "controllerregistration.core.gardener.cloud/name"
"""Label of the Namespace of an installation in a seed."""
RENDERING: Final = "controllerinstallation.core.gardener.cloud/rendering"
"""Annotation of such a ManagedResource: digest of what its Secret was rendered from, and of the Secret's name."""

SEED_NAMESPACE: Final = "garden"
"""The namespace of a seed with the ManagedResources of its installations."""

HELM: Final = "helm"
"""The type of deployment that is a chart; what deploys any other type is not the project's."""

BEFORE: Final = "BeforeKubeAPIServer"
AFTER: Final = "AfterKubeAPIServer"


class Policy(StrEnum):
    """When a registration is installed into a seed beside when something there needs it."""

    ON_DEMAND = "OnDemand"
    ALWAYS = "Always"
    ALWAYS_EXCEPT_NO_SHOOTS = "AlwaysExceptNoShoots"


VALID: Final = "Valid"
INSTALLED: Final = "Installed"
HEALTHY: Final = "Healthy"
PROGRESSING: Final = "Progressing"
REQUIRED: Final = "Required"
EXTENSIONS_READY: Final = "ExtensionsReady"
"""Condition of a Seed."""
