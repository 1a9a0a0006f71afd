"""Which webhooks are served, and what they go by: the section `webhooks`.

A webhook that is not enabled leaves nothing behind: what its section says beside the switch is only looked at where the
reference looks at it.

Source: webhooks-and-tokens §2, managed-resources §3.1.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import Field

from hedgerow.admission.config import (
    EXPIRATION_SECONDS,
    SCHEDULER_NAME,
    AdmissionConfig,
    HighAvailabilityConfig,
    SystemComponentsConfig,
)
from hedgerow.api.shape import Int64, child
from hedgerow.machinery.fields import FieldError, forbidden, invalid, required
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.configuration.shape import Purpose, Section
from hedgerow.resource_manager.configuration.token_invalidator import IS_AN_ALIAS
from hedgerow.resource_manager.configuration.toleration import TolerationSection

SHORTEST_EXPIRATION_SECONDS: Final = 600


class WebhookSection(Section):
    """A webhook with nothing but a switch."""

    enabled: bool = False
    """Whether the webhook is served and registered."""


class TokenValidatorSection(WebhookSection):
    """`webhooks.tokenValidator`, an older name."""

    @property
    def remark(self) -> str:
        """What the name of today is."""
        return IS_AN_ALIAS


class HighAvailabilityConfigSection(WebhookSection):
    """`webhooks.highAvailabilityConfig` as written."""

    default_not_ready_toleration_seconds: Int64 | None = None
    """How long pods stay on a Node that is not ready; left out: no toleration is added. At least 0."""
    default_unreachable_toleration_seconds: Int64 | None = None
    """How long pods stay on a Node that cannot be reached; left out: no toleration is added. At least 0."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """Negative times, even where the webhook is not enabled."""
        for name, seconds in (
            ("defaultNotReadyTolerationSeconds", self.default_not_ready_toleration_seconds),
            ("defaultUnreachableTolerationSeconds", self.default_unreachable_toleration_seconds),
        ):
            if seconds is not None and seconds < 0:
                yield invalid(f"{path}.{name}", seconds, "must be greater than or equal to 0")

    def settings(self) -> HighAvailabilityConfig | None:
        """What the webhook goes by; none if it is not enabled."""
        if not self.enabled:
            return None
        return HighAvailabilityConfig(
            self.default_not_ready_toleration_seconds, self.default_unreachable_toleration_seconds
        )


class KubernetesServiceHostSection(WebhookSection):
    """`webhooks.kubernetesServiceHost` as written."""

    host: str = ""
    """The name of the API server. Must be set."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """No host: pods would be told that the API server is nowhere."""
        if self.enabled and not self.host:
            yield required(f"{path}.host", "must specify host when webhook is enabled")

    def settings(self) -> str | None:
        """The host; none if the webhook is not enabled."""
        return self.host if self.enabled else None


class PodSchedulerNameSection(WebhookSection):
    """`webhooks.podSchedulerName` as written."""

    scheduler_name: str | None = None
    """The scheduler of pods that name none."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """An empty name, which is not the same as none."""
        if self.enabled and self.scheduler_name == "":
            yield required(f"{path}.schedulerName", "must specify schedulerName when webhook is enabled")

    def settings(self) -> str | None:
        """The name of the scheduler; none if the webhook is not enabled."""
        return (self.scheduler_name or SCHEDULER_NAME) if self.enabled else None


class ProjectedTokenMountSection(WebhookSection):
    """`webhooks.projectedTokenMount` as written."""

    expiration_seconds: Int64 | None = None
    """For how long tokens are valid. At least 600."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """A shorter time than the API server gives tokens for."""
        seconds = self.expiration_seconds
        if self.enabled and seconds is not None and seconds < SHORTEST_EXPIRATION_SECONDS:
            yield invalid(f"{path}.expirationSeconds", seconds, f"must be at least {SHORTEST_EXPIRATION_SECONDS}")

    def settings(self) -> int | None:
        """For how long tokens are valid; none if the webhook is not enabled."""
        if not self.enabled:
            return None
        return EXPIRATION_SECONDS if self.expiration_seconds is None else self.expiration_seconds


class SystemComponentsConfigSection(WebhookSection):
    """`webhooks.systemComponentsConfig` as written; its tolerations are looked at even where it is not enabled."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels of the Nodes whose taints are tolerated; empty: of all."""
    pod_node_selector: dict[str, str] = Field(default_factory=dict)
    """Added to the node selector of pods."""
    pod_tolerations: list[TolerationSection] = Field(default_factory=list)
    """Added to the tolerations of pods."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Selectors that no Node could match, because labels are spelled otherwise; then what the tolerations break."""
        if self.enabled:
            yield from _label_problems(f"{path}.nodeSelector", self.node_selector)
            yield from _label_problems(f"{path}.podNodeSelector", self.pod_node_selector)
        yield from super().problems(path, purpose)

    def settings(self) -> SystemComponentsConfig | None:
        """What the webhook goes by; none if it is not enabled."""
        if not self.enabled:
            return None
        return SystemComponentsConfig(
            node_selector=LabelSelector(tuple(self.node_selector.items())),
            pod_node_selector=self.pod_node_selector,
            pod_tolerations=tuple(toleration.manifest() for toleration in self.pod_tolerations),
        )


class WebhooksSection(Section):
    """The section as written; its errors come in the order of its fields."""

    crd_deletion_protection: WebhookSection = WebhookSection()
    """Denies that protected definitions and resources are deleted without confirmation."""
    endpoint_slice_hints: WebhookSection = WebhookSection()
    """Keeps traffic in its zone."""
    extension_validation: WebhookSection = WebhookSection()
    """Denies extension resources that are not valid."""
    high_availability_config: HighAvailabilityConfigSection = HighAvailabilityConfigSection()
    """Spreads workloads over nodes and zones, and sets their replicas."""
    kubernetes_service_host: KubernetesServiceHostSection = KubernetesServiceHostSection()
    """Tells containers the name of the API server."""
    pod_scheduler_name: PodSchedulerNameSection = PodSchedulerNameSection()
    """Names the scheduler of pods."""
    pod_topology_spread_constraints: WebhookSection = WebhookSection()
    """Lets spread constraints count pods of the same ReplicaSet only."""
    projected_token_mount: ProjectedTokenMountSection = ProjectedTokenMountSection()
    """Gives pods a token whose ServiceAccount mounts none."""
    seccomp_profile: WebhookSection = WebhookSection()
    """Sets the runtime's seccomp profile where pods name none."""
    system_components_config: SystemComponentsConfigSection = SystemComponentsConfigSection()
    """Places pods of system components on the Nodes that are meant for them."""
    token_invalidator: WebhookSection | None = None
    """Makes static tokens worthless. Enabled together with its controller, or neither."""
    token_validator: TokenValidatorSection | None = None
    """An older name of `tokenInvalidator`; not beside it."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Both spellings of one webhook, then what is wrong within the sections."""
        if self.token_invalidator is not None and self.token_validator is not None:
            yield forbidden(f"{path}.tokenValidator", "must not be set together with tokenInvalidator")
        yield from super().problems(path, purpose)

    @property
    def invalidates_tokens(self) -> bool:
        """Whether the token invalidator is enabled, under either of its names."""
        section = self.token_invalidator or self.token_validator
        return section is not None and section.enabled

    def settings(self) -> AdmissionConfig:
        """The webhooks with their defaults."""
        return AdmissionConfig(
            crd_deletion_protection=self.crd_deletion_protection.enabled,
            endpoint_slice_hints=self.endpoint_slice_hints.enabled,
            extension_validation=self.extension_validation.enabled,
            high_availability_config=self.high_availability_config.settings(),
            kubernetes_service_host=self.kubernetes_service_host.settings(),
            pod_scheduler_name=self.pod_scheduler_name.settings(),
            pod_topology_spread_constraints=self.pod_topology_spread_constraints.enabled,
            projected_token_mount=self.projected_token_mount.settings(),
            seccomp_profile=self.seccomp_profile.enabled,
            system_components_config=self.system_components_config.settings(),
            token_invalidator=self.invalidates_tokens,
        )


def _label_problems(path: str, labels: Mapping[str, str]) -> Iterator[FieldError]:
    for key, value in labels.items():
        if problem := label_key_problem(key):
            yield invalid(path, key, problem)
        if problem := label_value_problem(value):
            yield invalid(child(path, key), value, problem)


def manifest(config: AdmissionConfig) -> dict[str, Any]:
    """The section that states all webhooks in full; of one that is not enabled it says no more than that."""
    return {
        "crdDeletionProtection": {"enabled": config.crd_deletion_protection},
        "endpointSliceHints": {"enabled": config.endpoint_slice_hints},
        "extensionValidation": {"enabled": config.extension_validation},
        "highAvailabilityConfig": _switched(_high_availability(config.high_availability_config)),
        "kubernetesServiceHost": _switched(_field("host", config.kubernetes_service_host)),
        "podSchedulerName": _switched(_field("schedulerName", config.pod_scheduler_name)),
        "podTopologySpreadConstraints": {"enabled": config.pod_topology_spread_constraints},
        "projectedTokenMount": _switched(_field("expirationSeconds", config.projected_token_mount)),
        "seccompProfile": {"enabled": config.seccomp_profile},
        "systemComponentsConfig": _switched(_system_components(config.system_components_config)),
        "tokenInvalidator": {"enabled": config.token_invalidator},
    }


def _switched(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"enabled": False} if fields is None else {"enabled": True, **fields}


def _field(name: str, value: Any) -> dict[str, Any] | None:
    return None if value is None else {name: value}


def _high_availability(config: HighAvailabilityConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    seconds = {
        "defaultNotReadyTolerationSeconds": config.not_ready_seconds,
        "defaultUnreachableTolerationSeconds": config.unreachable_seconds,
    }
    return {name: value for name, value in seconds.items() if value is not None}


def _system_components(config: SystemComponentsConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "nodeSelector": dict(config.node_selector.match_labels),
        "podNodeSelector": dict(config.pod_node_selector),
        "podTolerations": [dict(toleration) for toleration in config.pod_tolerations],
    }
