"""The process of the garden: it decides which extensions seeds need (controller-registration §4, §5, §13)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from hedgerow.admission import Webhook
from hedgerow.machinery.objects import Manifest
from hedgerow.registration.configuration import ControllerManagerConfiguration
from hedgerow_entrypoints.components.registry import Asked, Component, ControllerEntry, Reviews
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.admission.registration import WebhookServer

GARDEN_CONTROLLERS: Final[tuple[ControllerEntry[Any], ...]] = ()
"""Those that decide for all seeds; the process of a seed may run them too."""


def _settings(configuration: ControllerManagerConfiguration) -> ProcessSettings:
    return ProcessSettings(
        source=configuration.garden_client_connection,
        server=configuration.server,
        leader_election=configuration.leader_election,
        log_level=configuration.log_level,
        log_format=configuration.log_format,
    )


def _webhooks(configuration: ControllerManagerConfiguration) -> Sequence[Webhook]:
    from hedgerow.registration.admission import webhooks

    section = configuration.webhooks
    enabled = (
        section.controller_registration_defaults.enabled,
        section.controller_registration_validation.enabled,
        section.registered_types.enabled,
    )
    return [webhook for webhook, is_enabled in zip(webhooks(), enabled, strict=True) if is_enabled]


def _registrations(configuration: ControllerManagerConfiguration, server: "WebhookServer") -> Sequence[Manifest]:
    from hedgerow.registration.admission import webhook_configurations

    return webhook_configurations(_webhooks(configuration), server)


def _reviews() -> Reviews:
    from hedgerow.admission.registration import WebhookServer
    from hedgerow.registration.admission import (
        DEFAULTS,
        REVIEWED,
        USED_TYPES,
        VALIDATION,
        webhook_configurations,
        webhooks,
    )

    def asked(_configuration: Any, names: Collection[str], _host: str | None, _mode: Any) -> Asked:
        chosen = [webhook for webhook in webhooks() if webhook.name in names]
        return chosen, webhook_configurations(chosen, WebhookServer("", "garden"))

    return Reviews(
        purposes={
            DEFAULTS: "sets the defaults of ControllerRegistrations",
            VALIDATION: "denies registrations of extensions that are not valid",
            USED_TYPES: "denies Shoots and the like that use types that nobody has registered",
        },
        resources=REVIEWED,
        asked=asked,
    )


COMPONENT: Final = Component(
    name="controller-manager",
    document=ControllerManagerConfiguration,
    without_file=lambda _ask: ControllerManagerConfiguration(),
    settings=_settings,
    controllers=GARDEN_CONTROLLERS,
    webhooks=_webhooks,
    registrations=_registrations,
    reviews=_reviews,
)
