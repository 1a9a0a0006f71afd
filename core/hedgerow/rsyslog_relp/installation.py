"""What the process of the extension needs in a cluster.

Source: rsyslog-relp §3, §7.1, §12; controller-registration §8.5.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from hedgerow.admission.registration import MUTATING, VALIDATING, RegisteredWebhook, WebhookServer
from hedgerow.installation import values
from hedgerow.installation.completion import NAMESPACE
from hedgerow.installation.extension_alerts import ALERTS, ROWS
from hedgerow.installation.installation import Installation
from hedgerow.installation.parts import Name
from hedgerow.installation.values import config_schema
from hedgerow.machinery.configuration.reading import head
from hedgerow.machinery.objects import Manifest
from hedgerow.rsyslog_relp.configuration import RsyslogRelpConfiguration
from hedgerow.rsyslog_relp.naming import TYPE
from hedgerow.rsyslog_relp.registration import ADMISSION, NAME, registered_webhooks, webhook_configurations


class Webhooks(values.Webhooks):
    """How API servers reach the webhooks that the component configuration enables."""

    certificate_secret: Name = f"{NAME}-tls"
    """The Secret of type kubernetes.io/tls beside the pods with the serving certificate; not with `provision: self`."""


class Values(values.WebhookValues):
    """The values of the chart of the extension."""

    config: dict[str, Any] = Field(
        default_factory=lambda: {**head(RsyslogRelpConfiguration), "controllers": {"heartbeat": {"enabled": True}}},
        json_schema_extra=config_schema(RsyslogRelpConfiguration),
    )
    """The component configuration, as in its file. What it enables decides about roles and webhooks."""
    webhooks: Webhooks = Webhooks()
    """How API servers reach the webhooks that the component configuration enables."""
    gardener: dict[str, Any] = Field(default_factory=dict)
    """What Gardener adds about garden and seed when it installs the chart for a ControllerRegistration; not used."""


class RsyslogRelpInstallation(Installation[Values, RsyslogRelpConfiguration]):
    """The extension."""

    component = "rsyslog-relp"
    process = NAME
    description = "The extension shoot-rsyslog-relp of hedgerow: nodes of a Shoot forward their logs to a RELP server"
    values_type = Values
    extension_type = TYPE
    own_alerts = ALERTS
    own_rows = ROWS
    completion: ClassVar[Mapping[str, Any]] = {"controllers": {"heartbeat": {"namespace": NAMESPACE}}}

    @property
    def usually_registered(self) -> tuple[RegisteredWebhook, ...]:
        """The webhooks that API servers call, on their usual terms."""
        return registered_webhooks(self.webhooks)

    @property
    def usual_registrations(self) -> tuple[Manifest, ...]:
        """The objects that register them."""
        server = WebhookServer(self.name, self.namespace, self.values.webhooks.ca_bundle.encode())
        return webhook_configurations(self.webhooks, server)

    @property
    def registration_names(self) -> Mapping[str, str]:
        """What the objects are called that may register them, by kind."""
        return {MUTATING: NAME, VALIDATING: ADMISSION}
