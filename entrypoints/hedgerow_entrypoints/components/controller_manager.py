"""The process of the garden: it decides which extensions seeds need (controller-registration §4, §5, §13)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hedgerow.admission import Webhook
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest
from hedgerow.registration.configuration import ControllerManagerConfiguration, SeedExtensionsConfiguration
from hedgerow_entrypoints.components.registry import Asked, Component, ControllerEntry, Remarks, Reviews
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.admission.registration import WebhookServer
    from hedgerow.registration.installation import ControllerManagerInstallation

_Configuration: TypeAlias = ControllerManagerConfiguration | SeedExtensionsConfiguration


def _seed(configuration: _Configuration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.planning import PlanningConfig
    from hedgerow.registration.seed_controller import seed_controller

    config = PlanningConfig(configuration.require_garden_secrets, configuration.seed_provider_extensions)
    return seed_controller(config, configuration.controllers.controller_registration.concurrent_syncs)


def _remarks() -> Remarks:
    from hedgerow_entrypoints.components.registration_remarks import REGISTRATION_REMARKS

    return REGISTRATION_REMARKS


def _registration_finalizer(_configuration: _Configuration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.finalizers import REGISTRATIONS, finalizer_controller

    return finalizer_controller(REGISTRATIONS)


def _seed_finalizer(_configuration: _Configuration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.finalizers import SEEDS_WITH_INSTALLATIONS, finalizer_controller

    return finalizer_controller(SEEDS_WITH_INSTALLATIONS)


def _deployment(configuration: _Configuration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.finalizers import DEPLOYMENTS, finalizer_controller

    return finalizer_controller(DEPLOYMENTS, configuration.controllers.controller_deployment.concurrent_syncs)


GARDEN_CONTROLLERS: Final[tuple[ControllerEntry[Any], ...]] = (
    ControllerEntry(
        "controllerregistration-seed",
        _seed,
        "controllerRegistration",
        aliases=("controller-registration",),
        remarks=_remarks,
    ),
    ControllerEntry(
        "controllerregistration-controllerregistration-finalizer", _registration_finalizer, "controllerRegistration"
    ),
    ControllerEntry("controllerregistration-seed-finalizer", _seed_finalizer, "controllerRegistration"),
    ControllerEntry("controllerdeployment", _deployment, "controllerDeployment"),
)
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
    from hedgerow.api.registrations import CONTROLLER_REGISTRATIONS
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
            USED_TYPES: "denies Shoots and the like that use unregistered types",
        },
        resources=REVIEWED,
        decided_from={USED_TYPES: CONTROLLER_REGISTRATIONS},
        asked=asked,
    )


def _process() -> "type[ControllerManagerInstallation]":
    from hedgerow.registration.installation import ControllerManagerInstallation

    return ControllerManagerInstallation


COMPONENT: Final = Component(
    name="controller-manager",
    document=ControllerManagerConfiguration,
    without_file=lambda _ask: ControllerManagerConfiguration(),
    settings=_settings,
    controllers=GARDEN_CONTROLLERS,
    webhooks=_webhooks,
    registrations=_registrations,
    reviews=_reviews,
    installation=_process,
)
