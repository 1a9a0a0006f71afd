"""One installation: its values and configuration, and what follows from them for all its objects.

Source: managed-resources §4; webhooks-and-tokens §4.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration import Mode, service_name
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.installation.values import Values

FOLDER: Final = "/etc/gardener-resource-manager"
CERTIFICATES: Final = f"{FOLDER}/certificates"
"""The default mount path of the serving certificate."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything that the objects of an installation depend on."""

    values: Values
    namespace: str
    """The namespace of the process."""
    version: str
    """The tag of the image, if the values name none."""
    document: Mapping[str, Any]
    """The `completed` component configuration."""
    configuration: ResourceManagerConfiguration
    """The decoded document."""
    permissions: tuple[Permission, ...]
    """All permissions of the process."""

    @property
    def name(self) -> str:
        """The name of its objects."""
        return service_name(self.values.name_prefix)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its objects and pods."""
        return {"app": self.name}

    @property
    def target_is_separate(self) -> bool:
        """True if the target cluster is not the one of the process."""
        return self.configuration.target is not None

    @property
    def serves_webhooks(self) -> bool:
        """True if any webhook is enabled."""
        return self.configuration.admission != AdmissionConfig()

    @property
    def mode(self) -> Mode:
        """Which cluster sends requests to the webhooks."""
        if self.target_is_separate:
            return Mode.TARGET
        return Mode.RUNTIME if self.values.webhooks.in_gardener else Mode.STANDALONE

    def permissions_in(self, *clusters: Cluster) -> tuple[Permission, ...]:
        """The permissions in the cluster that has these roles."""
        return tuple(permission for permission in self.permissions if permission.cluster in clusters)


def completed(config: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """A component configuration with the namespace of the Lease and the folder of the certificate."""
    election, server = _mapping(config, "leaderElection"), _mapping(config, "server")
    webhooks = _mapping(server, "webhooks")
    tls = _mapping(webhooks, "tls")
    election["resourceNamespace"] = election.get("resourceNamespace") or namespace
    tls["serverCertDir"] = tls.get("serverCertDir") or CERTIFICATES
    return {**config, "leaderElection": election, "server": {**server, "webhooks": {**webhooks, "tls": tls}}}


def fingerprint(document: Mapping[str, Any]) -> str:
    """A checksum of a component configuration, the same as the chart's."""
    text = json.dumps(_as_go_writes(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _mapping(parent: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = parent.get(name)
    return dict(section) if isinstance(section, Mapping) else {}


def _as_go_writes(value: Any) -> Any:
    """Whole numbers without a decimal point."""
    if isinstance(value, Mapping):
        return {name: _as_go_writes(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_go_writes(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
