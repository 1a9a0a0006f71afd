"""The process of a seed: it installs extensions there and tells how they are (controller-registration §8 to §13)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

from typing import Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.registration.configuration import SeedExtensionsConfiguration
from hedgerow_adapters.charts import HelmCommand
from hedgerow_entrypoints.components.registry import Component, ControllerEntry
from hedgerow_entrypoints.process.settings import ProcessSettings


def _care(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.care import CareConfig, care_controller

    section = configuration.controllers.controller_installation_care
    return care_controller(CareConfig(configuration.seed, section.sync_period), section.concurrent_syncs)


def _seed_check(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.seed_check import SeedCheckConfig, seed_check_controller

    section = configuration.controllers.seed_extensions_check
    config = SeedCheckConfig(configuration.seed, section.threshold, section.sync_period)
    return seed_check_controller(config, section.concurrent_syncs)


def _shoot_extensions(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.shoot_extensions import ShootExtensionsConfig, shoot_extensions_controller

    section = configuration.controllers.shoot_extensions
    return shoot_extensions_controller(ShootExtensionsConfig(configuration.seed), section.concurrent_syncs)


def _settings(configuration: SeedExtensionsConfiguration) -> ProcessSettings:
    return ProcessSettings(
        source=configuration.garden_client_connection,
        target=configuration.seed_client_connection,
        server=configuration.server,
        leader_election=configuration.leader_election,
        log_level=configuration.log_level,
        log_format=configuration.log_format,
        helm=HelmCommand(configuration.helm.binary, configuration.helm.timeout.total_seconds()),
    )


COMPONENT: Final = Component(
    name="seed-extensions",
    document=SeedExtensionsConfiguration,
    without_file=lambda _ask: SeedExtensionsConfiguration(),
    settings=_settings,
    controllers=(
        # The controllers of the garden come first where both run in one process.
        ControllerEntry("controllerinstallation-care", _care, "controllerInstallationCare"),
        ControllerEntry("seed-extensions-check", _seed_check, "seedExtensionsCheck"),
        ControllerEntry("shoot-extensions", _shoot_extensions, "shootExtensions"),
    ),
)
