"""The configuration file of the extension's process.

The reference has flags instead, and a file without fields.

Source: rsyslog-relp §3.
"""

from datetime import timedelta
from typing import Annotated, Final

from hedgerow.extensions.heartbeat import HeartbeatConfig
from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server, WebhookEndpoint
from hedgerow.machinery.configuration.reading import Document
from hedgerow.machinery.configuration.rules import at_least, must_be_set, one_of, valid
from hedgerow.machinery.configuration.section import ZERO_IS_UNSET, Section, Switched
from hedgerow.machinery.names import dns_label_problem
from hedgerow.rsyslog_relp.cleaning import CleanerImages
from hedgerow.rsyslog_relp.lifecycle import DEFAULT_CONCURRENCY, LifecycleConfig
from hedgerow.rsyslog_relp.naming import TYPE

_IMAGES: Final = CleanerImages()
_IMAGE: Final = must_be_set("must name an image", "Not empty.")
_SECOND: Final = timedelta(seconds=1)


class LifecycleSettings(Switched):
    """Reconciles the Extensions of Shoots, in a seed."""

    enabled: bool = True
    """Whether the controller runs."""
    concurrent_syncs: Annotated[int, at_least(1)] = DEFAULT_CONCURRENCY
    """How many workers there are; each has up to three Extensions under way, as API servers take time."""
    ignore_operation_annotation: bool = False
    """Whether every change of an Extension's specification is followed, not only what its annotation asks for."""


class HeartbeatSettings(Switched):
    """Renews a Lease by which Gardener sees that the extension is alive."""

    enabled: bool = False
    """Whether the Lease is renewed."""
    namespace: Annotated[str, must_be_set("namespace is required"), valid(dns_label_problem, may_be_empty=True)] = ""
    """Namespace of the Lease, mostly that of the process."""
    renew_interval: Annotated[timedelta, at_least(_SECOND, "must be at least one second")] = timedelta(seconds=30)
    """Between two renewals."""


class Controllers(Section):
    """What the process does."""

    lifecycle: LifecycleSettings = LifecycleSettings()
    heartbeat: HeartbeatSettings = HeartbeatSettings()


class ImageSettings(Section):
    """The images of the cleaner."""

    alpine: Annotated[str, _IMAGE] = _IMAGES.alpine
    """Has a POSIX shell and `chroot`."""
    pause: Annotated[str, _IMAGE] = _IMAGES.pause
    """Does nothing."""


class OperatingSystemConfigSettings(Switched):
    """Adds the extension's files to OperatingSystemConfigs, in a seed."""

    enabled: bool = True
    """Whether the webhook is served and registered."""


class ShootSettings(Switched):
    """Refuses Shoots with an invalid configuration of the extension, in the garden."""

    enabled: bool = False
    """Whether the webhook is served and registered."""


class Webhooks(Section):
    """What API servers ask the process."""

    operating_system_config: OperatingSystemConfigSettings = OperatingSystemConfigSettings()
    shoot: ShootSettings = ShootSettings()


class RsyslogRelpConfiguration(Document):
    """The component configuration of `hedgerow run rsyslog-relp`."""

    api_version = "rsyslog-relp.extensions.config.gardener.cloud/v1alpha1"
    kind = "Configuration"

    client_connection: ClientConnection = ClientConnection()
    """The seed; for the webhook of Shoots the garden."""
    server: Server = Server(webhooks=WebhookEndpoint(port=10250))
    leader_election: LeaderElection = LeaderElection(resource_name=f"extension-{TYPE}-leader-election")
    """Which Lease replicas compete for. Controllers work on the one that holds it, webhooks on all."""
    log_level: Annotated[str, ZERO_IS_UNSET, one_of(("debug", "info", "error"))] = "info"
    """How much is logged."""
    log_format: Annotated[str, ZERO_IS_UNSET, one_of(("json", "text"))] = "json"
    """How lines are logged."""
    controllers: Controllers = Controllers()
    images: ImageSettings = ImageSettings()
    webhooks: Webhooks = Webhooks()

    @property
    def lifecycle(self) -> LifecycleConfig:
        """What the lifecycle controller goes by."""
        images = CleanerImages(self.images.alpine, self.images.pause)
        return LifecycleConfig(images, self.controllers.lifecycle.ignore_operation_annotation)

    @property
    def heartbeat(self) -> HeartbeatConfig:
        """What the heartbeat goes by."""
        section = self.controllers.heartbeat
        return HeartbeatConfig(TYPE, section.namespace, section.renew_interval)
