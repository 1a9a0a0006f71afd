"""The sections of the reference's configuration that this version does not act on.

They are known, so that a file written for the reference is read without surprise: switched off they pass in silence,
switched on they are refused, because a webhook or a controller that silently does not run is worse than none. Sections
that have no switch are on in the reference always; here the user is told.

Their fields are named, so that a misspelt one is noticed, but not looked at.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field

from hedgerow.machinery.fields import FieldError, forbidden
from hedgerow.resource_manager.configuration.shape import Purpose, Section


class Unserved(Section):
    """A section with a switch that must be off."""

    serves: ClassVar[str] = "controller"
    enabled: bool = False

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """The switch, where it is on."""
        if self.enabled:
            yield forbidden(path, f"this {self.serves} does not exist in this version")


class UnservedWebhook(Unserved):
    """A section of a webhook, which must be off."""

    serves = "webhook"


class AlwaysOn(Section):
    """A section without a switch."""

    remark = "this section is not acted on in this version"


class GarbageCollector(Unserved):
    """`controllers.garbageCollector`."""

    sync_period: Any = None


class Health(AlwaysOn):
    """`controllers.health`."""

    concurrent_syncs: Any = None
    sync_period: Any = None


class KubeletCSRApprover(Unserved):
    """`controllers.kubeletCSRApprover`."""

    concurrent_syncs: Any = None
    machine_namespace: Any = None


class ManagedResource(AlwaysOn):
    """`controllers.managedResource`."""

    concurrent_syncs: Any = None
    sync_period: Any = None
    always_update: Any = None
    managed_by_label_value: Any = None


class Node(Unserved):
    """`controllers.node`."""

    concurrent_syncs: Any = None
    backoff: Any = None


class Secret(AlwaysOn):
    """`controllers.secret`."""

    concurrent_syncs: Any = None


class TokenInvalidator(Unserved):
    """`controllers.tokenInvalidator`."""

    concurrent_syncs: Any = None


class TokenRequestor(Unserved):
    """`controllers.tokenRequestor`."""

    concurrent_syncs: Any = None
    class_: Any = Field(None, alias="class")
    audiences: Any = None
    target_namespace: Any = None


class HighAvailabilityConfig(UnservedWebhook):
    """`webhooks.highAvailabilityConfig`."""

    default_not_ready_toleration_seconds: Any = None
    default_unreachable_toleration_seconds: Any = None


class KubernetesServiceHost(UnservedWebhook):
    """`webhooks.kubernetesServiceHost`."""

    host: Any = None


class PodSchedulerName(UnservedWebhook):
    """`webhooks.podSchedulerName`."""

    scheduler_name: Any = None


class ProjectedTokenMount(UnservedWebhook):
    """`webhooks.projectedTokenMount`."""

    expiration_seconds: Any = None


class SystemComponentsConfig(UnservedWebhook):
    """`webhooks.systemComponentsConfig`."""

    node_selector: Any = None
    pod_node_selector: Any = None
    pod_tolerations: Any = None


class WebhooksSection(Section):
    """`webhooks` as written."""

    crd_deletion_protection: UnservedWebhook | None = None
    endpoint_slice_hints: UnservedWebhook | None = None
    extension_validation: UnservedWebhook | None = None
    high_availability_config: HighAvailabilityConfig | None = None
    kubernetes_service_host: KubernetesServiceHost | None = None
    pod_scheduler_name: PodSchedulerName | None = None
    pod_topology_spread_constraints: UnservedWebhook | None = None
    projected_token_mount: ProjectedTokenMount | None = None
    seccomp_profile: UnservedWebhook | None = None
    system_components_config: SystemComponentsConfig | None = None
    token_invalidator: UnservedWebhook | None = None
    token_validator: UnservedWebhook | None = None

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Both spellings of one webhook, then the webhooks that are switched on."""
        if self.token_invalidator is not None and self.token_validator is not None:
            yield forbidden(f"{path}.tokenValidator", "must not be set together with tokenInvalidator")
        yield from super().problems(path, purpose)
