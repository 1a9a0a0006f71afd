"""The resource manager's webhooks as `hedgerow review` asks them."""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from hedgerow.admission import Webhook
from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import (
    EXPIRATION_SECONDS,
    SCHEDULER_NAME,
    AdmissionConfig,
    HighAvailabilityConfig,
    SystemComponentsConfig,
)
from hedgerow.admission.deletion_protection import CUSTOM_RESOURCES, DEFINITIONS
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.api import gardener, kubernetes
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow_entrypoints.components.registry import Reviews

AUTOSCALERS: Final = tuple(
    kubernetes.HORIZONTAL_POD_AUTOSCALERS._replace(version=version) for version in ("v2", "v1", "v2beta2", "v2beta1")
)
"""One and the same objects, in the versions in which API servers have served them, the preferred one first."""
_BASTIONS: Final = gardener.extension_resource("bastions", "Bastion")
_OWN: Final = (kubernetes.PODS, kubernetes.SECRETS, kubernetes.DEPLOYMENTS, kubernetes.STATEFUL_SETS)
_SWITCHES: Final[dict[str, Any]] = {each.name: True for each in fields(AdmissionConfig) if each.default is False}
_EVERYTHING: Final = AdmissionConfig(
    **_SWITCHES,
    high_availability_config=HighAvailabilityConfig(),
    pod_scheduler_name=SCHEDULER_NAME,
    projected_token_mount=EXPIRATION_SECONDS,
    system_components_config=SystemComponentsConfig(),
)
"""What webhooks go by that no configuration enables; where the API server is, nobody can know."""


def _asked(
    configuration: ResourceManagerConfiguration | None, names: Collection[str], host: str | None, mode: Mode
) -> tuple[Sequence[Webhook], Sequence[Manifest]]:
    stated = configuration.admission if configuration else AdmissionConfig()
    if host:
        stated = replace(stated, kubernetes_service_host=host)
    switches = [name.replace("-", "_") for name in names]
    chosen = {name: getattr(stated, name) or getattr(_EVERYTHING, name) for name in switches}
    config = replace(AdmissionConfig(), **chosen)
    return webhooks(config), build_webhook_configurations(mode, "", "garden", b"", config)


REVIEWS: Final = Reviews(
    purposes={
        "crd-deletion-protection": "denies deletions that nobody has confirmed",
        "endpoint-slice-hints": "keeps traffic in its zone",
        "extension-validation": "denies extension resources that are not valid",
        "high-availability-config": "sets replicas, zones, spreading, tolerations",
        "kubernetes-service-host": "tells pods where the API server is",
        "pod-scheduler-name": "names the scheduler of pods that name none",
        "pod-topology-spread-constraints": "spreads each generation of pods by itself",
        "projected-token-mount": "mounts tokens that expire",
        "seccomp-profile": "gives pods the runtime's default profile",
        "system-components-config": "lets system components run on their nodes",
        "token-invalidator": "makes labelled tokens void",
    },
    resources=(
        *_OWN,
        kubernetes.ENDPOINT_SLICES,
        gardener.HVPAS,
        *AUTOSCALERS,
        *DEFINITIONS,
        *CUSTOM_RESOURCES,
        _BASTIONS,
    ),
    asked=_asked,
)
