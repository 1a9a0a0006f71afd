"""The settings of the webhooks, as plain values; a webhook whose value is none or false is not enabled.

Source: webhooks-and-tokens §2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector

SCHEDULER_NAME: Final = "default-scheduler"
"""The scheduler of pods that name none, unless a configuration names another."""
EXPIRATION_SECONDS: Final = 43200
"""The default validity of a token."""


@dataclass(frozen=True, slots=True)
class HighAvailabilityConfig:
    """How many seconds pods of highly available workloads stay on a Node in trouble; none: no toleration is added."""

    not_ready_seconds: int | None = None
    unreachable_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class SystemComponentsConfig:
    """Where pods of system components run."""

    node_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    """Of the Nodes whose taints are tolerated; the empty one selects every Node."""
    pod_node_selector: Mapping[str, str] = field(default_factory=dict)
    """Merged into the node selectors of the pods."""
    pod_tolerations: tuple[Manifest, ...] = ()
    """Added to the pods, as manifests spell them."""


@dataclass(frozen=True, slots=True)
class AdmissionConfig:
    """Which webhooks are enabled, and their settings."""

    crd_deletion_protection: bool = False
    endpoint_slice_hints: bool = False
    extension_validation: bool = False
    high_availability_config: HighAvailabilityConfig | None = None
    kubernetes_service_host: str | None = None
    """The name under which pods reach the API server."""
    pod_scheduler_name: str | None = None
    """The scheduler of pods that name none."""
    pod_topology_spread_constraints: bool = False
    projected_token_mount: int | None = None
    """For how many seconds a token is valid, unless an annotation says otherwise."""
    seccomp_profile: bool = False
    system_components_config: SystemComponentsConfig | None = None
    token_invalidator: bool = False
