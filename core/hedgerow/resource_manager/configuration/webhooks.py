"""The sections of the webhooks: `webhooks`.

The rules hold for a webhook that is enabled, with the exceptions of the reference.

Source: webhooks-and-tokens §2; managed-resources §3.1, toleration rules.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Annotated, Final, TypeAlias

from hedgerow.admission.config import (
    EXPIRATION_SECONDS,
    SCHEDULER_NAME,
    AdmissionConfig,
    HighAvailabilityConfig,
    SystemComponentsConfig,
)
from hedgerow.machinery.configuration.rules import at_least, labels, must_be_set
from hedgerow.machinery.configuration.section import Alias, Purpose, Section, Switched, WhenEnabled
from hedgerow.machinery.failures import Problem, invalid, unsupported
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.selectors import LabelSelector

EXISTS: Final = "Exists"
NO_EXECUTE: Final = "NoExecute"
OPERATORS: Final = ("Equal", EXISTS)
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
Seconds: TypeAlias = Annotated[int | None, at_least(0, "must be greater than or equal to 0")]


class WebhookSettings(Switched):
    """A webhook, which is disabled by default."""

    omits_defaults = True

    enabled: bool = False
    """Whether the webhook is served and registered."""

    def is_checked(self, _purpose: Purpose, /) -> bool:
        """False if disabled, whatever the purpose: no command runs a webhook that the file disables."""
        return self.enabled


class HighAvailabilitySettings(WebhookSettings):
    """Spreads workloads over nodes and zones, and sets their replicas."""

    default_not_ready_toleration_seconds: Seconds = None
    """How long pods stay on a Node that is not ready; left out: no toleration is added."""
    default_unreachable_toleration_seconds: Seconds = None
    """How long pods stay on a Node that cannot be reached; left out: no toleration is added."""

    @property
    def config(self) -> HighAvailabilityConfig:
        """The configuration of the webhook."""
        return HighAvailabilityConfig(
            self.default_not_ready_toleration_seconds, self.default_unreachable_toleration_seconds
        )

    def is_checked(self, _purpose: Purpose, /) -> bool:
        """True even if disabled, as in the reference."""
        return True


class KubernetesServiceHostSettings(WebhookSettings):
    """Tells containers the name of the API server."""

    host: Annotated[str, must_be_set("must specify host when webhook is enabled")] = ""
    """The name of the API server."""


class PodSchedulerNameSettings(WebhookSettings):
    """Names the scheduler of pods."""

    scheduler_name: Annotated[
        str | None,
        must_be_set("must specify schedulerName when webhook is enabled", "Not empty."),
        WhenEnabled(SCHEDULER_NAME),
    ] = None
    """The scheduler of pods that name none."""


class ProjectedTokenMountSettings(WebhookSettings):
    """Gives pods a token whose ServiceAccount mounts none."""

    expiration_seconds: Annotated[int | None, at_least(600), WhenEnabled(EXPIRATION_SECONDS)] = None
    """For how long tokens are valid."""


class Toleration(Section):
    """A toleration of pods. The rules and their order are those of kube-apiserver for pods."""

    omits_defaults = True

    key: str = ""
    """Key of the taint; empty, with the operator `Exists`: every taint."""
    operator: str = ""
    """How its value is compared; empty: `Equal`. One of `Equal`, `Exists`."""
    value: str = ""
    """The value of the taint, where the operator is `Equal`."""
    effect: str = ""
    """The effect of the taint; empty: every one. One of `NoSchedule`, `PreferNoSchedule`, `NoExecute`."""
    toleration_seconds: int | None = None
    """With the effect `NoExecute`: how long pods stay; left out: for good."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[Problem]:
        """What the API server would refuse in a pod."""
        if self.key and (problem := label_key_problem(self.key)):
            yield invalid(f"{path}.key", self.key, problem)
        if not self.key and self.operator != EXISTS:
            every = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{path}.operator", self.operator, every)
        if self.toleration_seconds is not None and self.effect != NO_EXECUTE:
            yield invalid(f"{path}.effect", self.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
        yield from self._problems_of_operator(f"{path}.operator")
        if self.effect and self.effect not in EFFECTS:
            yield unsupported(f"{path}.effect", self.effect, EFFECTS)

    def _problems_of_operator(self, at: str) -> Iterator[Problem]:
        """Errors of the value are told at the operator, as the API server does."""
        if self.operator == EXISTS:
            if self.value:
                yield invalid(at, self.value, "value must be empty when `operator` is 'Exists'")
        elif self.operator not in {"", "Equal"}:
            yield unsupported(at, self.operator, OPERATORS)
        elif problem := label_value_problem(self.value):
            yield invalid(at, self.value, problem)


class SystemComponentsSettings(WebhookSettings):
    """Places pods of system components on the Nodes that are meant for them."""

    node_selector: Annotated[Mapping[str, str], labels()] = field(default_factory=dict)
    """Labels of the Nodes whose taints are tolerated; empty: of all."""
    pod_node_selector: Annotated[Mapping[str, str], labels()] = field(default_factory=dict)
    """Added to the node selector of pods."""
    pod_tolerations: tuple[Toleration, ...] = ()
    """Added to the tolerations of pods."""

    @property
    def config(self) -> SystemComponentsConfig:
        """The configuration of the webhook."""
        tolerations = tuple(toleration.manifest() for toleration in self.pod_tolerations)
        selector = LabelSelector(tuple(self.node_selector.items()))
        return SystemComponentsConfig(selector, self.pod_node_selector, tolerations)

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """Labels that no Node can have; tolerations that no pod can have, even if disabled, as in the reference."""
        if self.enabled:
            yield from self.field_problems(path, purpose, "node_selector", "pod_node_selector")
        yield from self.field_problems(path, purpose, "pod_tolerations")


class Webhooks(Section):
    """Which webhooks are served, and what they go by."""

    crd_deletion_protection: WebhookSettings = WebhookSettings()
    """Denies that protected definitions and resources are deleted without confirmation."""
    endpoint_slice_hints: WebhookSettings = WebhookSettings()
    """Keeps traffic in its zone."""
    extension_validation: WebhookSettings = WebhookSettings()
    """Denies extension resources that are not valid."""
    high_availability_config: HighAvailabilitySettings = HighAvailabilitySettings()
    kubernetes_service_host: KubernetesServiceHostSettings = KubernetesServiceHostSettings()
    pod_scheduler_name: PodSchedulerNameSettings = PodSchedulerNameSettings()
    pod_topology_spread_constraints: WebhookSettings = WebhookSettings()
    """Lets spread constraints count pods of the same ReplicaSet only."""
    projected_token_mount: ProjectedTokenMountSettings = ProjectedTokenMountSettings()
    seccomp_profile: WebhookSettings = WebhookSettings()
    """Sets the runtime's seccomp profile where pods name none."""
    system_components_config: SystemComponentsSettings = SystemComponentsSettings()
    token_invalidator: Annotated[WebhookSettings, Alias("tokenValidator", "An older name", is_deprecated=True)] = (
        WebhookSettings()
    )
    """Makes static tokens worthless. Enabled together with its controller, or neither."""

    @property
    def config(self) -> AdmissionConfig:
        """The configuration of the enabled webhooks, for a valid section."""
        availability, components = self.high_availability_config, self.system_components_config
        host, scheduler, mount = self.kubernetes_service_host, self.pod_scheduler_name, self.projected_token_mount
        return AdmissionConfig(
            crd_deletion_protection=self.crd_deletion_protection.enabled,
            endpoint_slice_hints=self.endpoint_slice_hints.enabled,
            extension_validation=self.extension_validation.enabled,
            high_availability_config=availability.config if availability.enabled else None,
            kubernetes_service_host=host.host if host.enabled else None,
            pod_scheduler_name=scheduler.scheduler_name if scheduler.enabled else None,
            pod_topology_spread_constraints=self.pod_topology_spread_constraints.enabled,
            projected_token_mount=mount.expiration_seconds if mount.enabled else None,
            seccomp_profile=self.seccomp_profile.enabled,
            system_components_config=components.config if components.enabled else None,
            token_invalidator=self.token_invalidator.enabled,
        )
