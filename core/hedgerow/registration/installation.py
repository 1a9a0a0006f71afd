"""What the processes of the garden and of a seed need in a cluster.

Source: controller-registration §13.
"""

from typing import Any, Final

from pydantic import Field

from hedgerow.admission.registration import RegisteredWebhook, WebhookServer
from hedgerow.api.core_v1beta1 import CUSTOM_RESOURCES
from hedgerow.installation import values
from hedgerow.installation.alerts import object_alert
from hedgerow.installation.installation import Installation
from hedgerow.installation.panels import row_of_objects
from hedgerow.installation.parts import Name
from hedgerow.installation.values import Subject, Target, TargetValues, config_schema
from hedgerow.machinery.configuration.reading import head
from hedgerow.machinery.objects import Manifest
from hedgerow.registration.admission import registered_webhooks, webhook_configurations
from hedgerow.registration.configuration import ControllerManagerConfiguration, SeedExtensionsConfiguration

GARDEN_PROCESS: Final = "hedgerow-controller-manager"
SEED_PROCESS: Final = "hedgerow-seed-extensions"


class Webhooks(values.Webhooks):
    """How API servers reach the webhooks that the component configuration enables."""

    certificate_secret: Name = f"{GARDEN_PROCESS}-tls"
    """The Secret of type kubernetes.io/tls beside the pods with the serving certificate; not with `provision: self`."""


class GardenValues(values.DefinitionValues, values.WebhookValues):
    """The values of the chart of the garden's process."""

    config: dict[str, Any] = Field(
        default_factory=lambda: head(ControllerManagerConfiguration),
        json_schema_extra=config_schema(ControllerManagerConfiguration),
    )
    """The component configuration, as in its file. What it enables decides about roles and webhooks."""
    webhooks: Webhooks = Webhooks()
    """How API servers reach the webhooks that the component configuration enables."""


class ControllerManagerInstallation(Installation[GardenValues, ControllerManagerConfiguration]):
    """The process of the garden."""

    component = "controller-manager"
    process = GARDEN_PROCESS
    description = "The controller manager of hedgerow: which extensions the seeds of a garden need"
    values_type = GardenValues
    definitions = CUSTOM_RESOURCES

    @property
    def usually_registered(self) -> tuple[RegisteredWebhook, ...]:
        """The webhooks that API servers call, on their usual terms."""
        return registered_webhooks(self.webhooks)

    @property
    def usual_registrations(self) -> tuple[Manifest, ...]:
        """The objects that register them."""
        server = WebhookServer(self.name, self.namespace, self.values.webhooks.ca_bundle.encode())
        return webhook_configurations(self.webhooks, server)


class SeedValues(TargetValues):
    """The values of the chart of a seed's process."""

    name_prefix: str = Field("", max_length=36, pattern=r"^([a-z]([-a-z0-9]*))?$")
    """What stands before hedgerow-seed-extensions in names: there is one release for each seed."""
    config: dict[str, Any] = Field(
        default_factory=lambda: head(SeedExtensionsConfiguration),
        json_schema_extra=config_schema(SeedExtensionsConfiguration),
    )
    """The component configuration, as in its file. What it enables decides about roles. It has to name the Seed."""
    target: Target = Target(subject=Subject(name=SEED_PROCESS))
    """The seed, where it is another cluster than the garden."""


_CONDITION: Final = "hedgerow_controller_installation_condition"
ALERTS: Final = (
    object_alert(
        "HedgerowInstallationFails",
        _CONDITION,
        {"type": '=~"Valid|Installed|Healthy"', "status": '!="True"'},
        hold="15m",
        severity="critical",
        summary="An extension has not been installed, or has been unhealthy, for 15 minutes.",
    ),
)

_UNWELL: Final = 'type!="Progressing",status!="True"'
ROWS: Final = (row_of_objects("ControllerInstallations", _CONDITION, "type", "status", _UNWELL),)


class SeedExtensionsInstallation(Installation[SeedValues, SeedExtensionsConfiguration]):
    """The process of a seed."""

    component = "seed-extensions"
    process = SEED_PROCESS
    description = "The seed extensions of hedgerow: installs extension controllers into a seed and tells how they are"
    values_type = SeedValues
    own_alerts = ALERTS
    own_rows = ROWS
    writes_temporary_files = True

    @property
    def name(self) -> str:
        """The name of its objects."""
        return f"{self.values.name_prefix}{self.process}"
