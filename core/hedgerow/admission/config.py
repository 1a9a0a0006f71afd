"""What the webhooks go by, as plain values; one that is none or false is not enabled.

Source: webhooks-and-tokens §2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector

SCHEDULER_NAME: Final = "default-scheduler"
"""The scheduler of pods that name none, where a configuration names none either."""
EXPIRATION_SECONDS: Final = 43200
"""For how many seconds a token is valid that nobody says more about."""


@dataclass(frozen=True, slots=True)
class HighAvailabilityConfig:
    """How long pods of highly available workloads stay on a node that has trouble, in seconds; none: not said."""

    not_ready_seconds: int | None = None
    unreachable_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class SystemComponentsConfig:
    """Where pods of system components run."""

    node_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    """Whose taints are tolerated; the empty one selects every Node."""
    pod_node_selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that the Nodes of the pods must have."""
    pod_tolerations: tuple[Manifest, ...] = ()
    """Tolerations that the pods get, as manifests spell them."""


@dataclass(frozen=True, slots=True)
class AdmissionConfig:
    """Which webhooks are enabled, and what each of them goes by."""

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
    """For how many seconds a token is valid that no annotation says more about."""
    seccomp_profile: bool = False
    system_components_config: SystemComponentsConfig | None = None
    token_invalidator: bool = False
