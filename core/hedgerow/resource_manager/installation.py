"""What the process of the resource manager needs in a cluster.

Source: managed-resources §4, §19; webhooks-and-tokens §4.4.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from hedgerow.admission.registration import (
    HIGH_AVAILABILITY,
    MUTATING,
    SKIPPED_BY_PODS,
    Mode,
    RegisteredWebhook,
    build_webhook_configurations,
    registered_webhooks,
    service_name,
    skip_label,
)
from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.api.references import CLUSTER_IDENTITY, asks_for_identity
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.installation import values
from hedgerow.installation.alerts import object_alert
from hedgerow.installation.installation import NOTHING, Installation
from hedgerow.installation.panels import row_of_objects
from hedgerow.installation.parts import Name
from hedgerow.installation.values import (
    DefinitionValues,
    ManagedResources,
    Record,
    Subject,
    Target,
    TargetValues,
    WebhookValues,
    config_schema,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.configuration.reading import Schema
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.configuration import API_VERSION, KIND, ResourceManagerConfiguration

PROCESS: Final = service_name("")
_INGRESS_CONTROLLER: Final[Schema] = {
    "required": ["namespace", "podSelector"],
    "properties": {"namespace": {"type": "string", "minLength": 1}, "podSelector": {"type": "object"}},
}
_NETWORK_POLICY: Final[Schema] = {
    "if": {"properties": {"enabled": {"const": True}}, "required": ["enabled"]},
    "then": {"properties": {"ingressControllerSelector": _INGRESS_CONTROLLER}},
}
LONGEST_PREFIX: Final = 36
"""Characters before `gardener-resource-manager` that leave a valid name of a Service."""


def _config_schema() -> dict[str, Any]:
    schema = config_schema(ResourceManagerConfiguration)
    schema["properties"]["controllers"]["properties"]["networkPolicy"] |= _NETWORK_POLICY
    return schema


class Webhooks(values.Webhooks):
    """How API servers reach the webhooks that the component configuration enables."""

    certificate_secret: Name = f"{PROCESS}-tls"
    """The Secret of type kubernetes.io/tls beside the pods with the serving certificate; not with `provision: self`."""
    in_gardener: bool = False
    """Whether the cluster is a seed or the runtime cluster of a garden: pods beside the process need the webhooks."""


class Values(DefinitionValues, TargetValues, WebhookValues):
    """The values of the chart of the resource manager."""

    name_prefix: Annotated[str, Field(max_length=LONGEST_PREFIX, pattern=r"^([a-z]([-a-z0-9]*))?$")] = ""
    """What stands before gardener-resource-manager in names."""
    config: dict[str, Any] = Field(
        default_factory=lambda: {"apiVersion": API_VERSION, "kind": KIND}, json_schema_extra=_config_schema()
    )
    """The component configuration, as in its file. What it enables decides about roles and webhooks."""
    webhooks: Webhooks = Webhooks()
    """How API servers reach the webhooks that the component configuration enables."""
    target: Target = Target(subject=Subject(name=PROCESS))
    """The separate target cluster."""
    managed_resources: ManagedResources = ManagedResources()
    """What ManagedResources may deliver: the process needs every permission for that, and those that roles grant."""
    record: Record = Record()
    """Whether pods record their decisions, for `hedgerow replay`."""


_CONDITION: Final = "hedgerow_managed_resource_condition"
ALERTS: Final = (
    object_alert(
        "HedgerowDeliveryFails",
        _CONDITION,
        {"type": '="ResourcesApplied"', "status": '!="True"'},
        hold="15m",
        severity="critical",
        summary="The objects of a ManagedResource have not been applied, or deleted, for 15 minutes.",
    ),
    object_alert(
        "HedgerowDeliveryUnhealthy",
        _CONDITION,
        {"type": '="ResourcesHealthy"', "status": '="False"'},
        hold="15m",
        severity="warning",
        summary="An object of a ManagedResource has been unhealthy for 15 minutes.",
    ),
    object_alert(
        "HedgerowRolloutStands",
        _CONDITION,
        {"type": '="ResourcesProgressing"', "status": '="True"'},
        hold="1h",
        severity="warning",
        summary="A rollout of a ManagedResource has not ended within an hour.",
    ),
)

_UNWELL: Final = 'type!="ResourcesProgressing",status!="True"'
ROWS: Final = (row_of_objects("ManagedResources", _CONDITION, "type", "status", _UNWELL),)


class ResourceManagerInstallation(Installation[Values, ResourceManagerConfiguration]):
    """The resource manager."""

    component = "resource-manager"
    process = PROCESS
    description = "The resource manager of hedgerow: ManagedResources, network policies, tokens, nodes, webhooks"
    values_type = Values
    definitions = (MANAGED_RESOURCE,)
    own_alerts = ALERTS
    own_rows = ROWS

    @classmethod
    def named(cls, values: Values, /) -> str:
        """The name of the objects of an installation with these values."""
        return service_name(values.name_prefix)

    @property
    def deployment_labels(self) -> Mapping[str, str]:
        """Replicas can be scaled while no webhook answers. Webhooks of a separate target never see them."""
        return NOTHING if self.separate_target else {skip_label(HIGH_AVAILABILITY): "true"}

    @property
    def pod_labels(self) -> Mapping[str, str]:
        """The pods start although no resource manager answers: two in one cluster would wait for each other."""
        return {skip_label(webhook): "true" for webhook in SKIPPED_BY_PODS}

    @property
    def record(self) -> Record | None:
        """How pods record their decisions; none: they do not."""
        return self.values.record if self.values.record.enabled else None

    @property
    def managed_resources(self) -> ManagedResources:
        """What the process may do with what ManagedResources deliver."""
        return self.values.managed_resources

    @property
    def mode(self) -> Mode:
        """Which cluster sends requests to the webhooks."""
        if self.separate_target:
            return Mode.TARGET
        return Mode.RUNTIME if self.values.webhooks.in_gardener else Mode.STANDALONE

    @property
    def usually_registered(self) -> tuple[RegisteredWebhook, ...]:
        """The webhooks that API servers call, on their usual terms."""
        return registered_webhooks(self.mode, self.name, self.namespace, self.configuration.admission)

    @property
    def usual_registrations(self) -> tuple[Manifest, ...]:
        """The objects that register them."""
        authorities, admission = self.values.webhooks.ca_bundle.encode(), self.configuration.admission
        return build_webhook_configurations(self.mode, self.values.name_prefix, self.namespace, authorities, admission)

    @property
    def registration_names(self) -> Mapping[str, str]:
        """What the objects are called that may register them, by kind."""
        return {MUTATING: f"{self.name}-shoot"} if self.mode is Mode.TARGET else super().registration_names

    @property
    def further_permissions(self) -> tuple[Permission, ...]:
        """To read the id of the source cluster, if the configuration names none."""
        if not asks_for_identity(self.configuration.controllers.cluster_id):
            return ()
        namespace, name = CLUSTER_IDENTITY
        return (Permission.of(CONFIG_MAPS, "get", cluster=Cluster.SOURCE, namespace=namespace, names=(name,)),)
