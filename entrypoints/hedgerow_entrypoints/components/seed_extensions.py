"""The process of a seed: it installs extensions there and tells how they are (controller-registration §8 to §13)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

import os
from base64 import b64decode
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hedgerow.api.registrations import SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.registration.configuration import SeedConfig, SeedExtensionsConfiguration, SeedName
from hedgerow_adapters.charts import HelmCommand
from hedgerow_entrypoints.components.controller_manager import GARDEN_CONTROLLERS
from hedgerow_entrypoints.components.redaction import secret_redaction
from hedgerow_entrypoints.components.registry import Ask, Component, ControllerEntry, Remarks
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.registration.garden_access import GardenAccess
    from hedgerow.registration.installation import SeedExtensionsInstallation

PLACEHOLDER: Final = "https://address-of-the-garden"
"""The garden's address for extensions, where only the process finds it out."""


def _installation(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.chart_deployment import InstallationConfig
    from hedgerow.registration.installing import installation_controller

    config = InstallationConfig(
        seed=configuration.seed,
        version=configuration.identity.version,
        feature_gates=configuration.feature_gates,
        api_versions=configuration.helm.api_versions,
        garden_access=_garden_access(configuration) if configuration.garden_access.enabled else None,
    )
    return installation_controller(config, configuration.controllers.controller_installation.concurrent_syncs)


def _remarks() -> Remarks:
    from hedgerow_entrypoints.components.registration_remarks import INSTALLATION_REMARKS

    return INSTALLATION_REMARKS


def _garden_access(configuration: SeedExtensionsConfiguration) -> "GardenAccess":
    """As far as it is configured; commands other than `run` show no address of their own surroundings."""
    from hedgerow.registration.garden_access import GardenAccess

    connection, lease = configuration.garden_client_connection, configuration.garden_access.token_requestor_lease
    server, authorities = connection.garden_cluster_address, b64decode(connection.garden_cluster_ca_cert)
    return GardenAccess(server or PLACEHOLDER, authorities, token_requestor=ObjectKey(lease.namespace, lease.name))


def _with_own_connection(controller: Controller[Any], configuration: SeedExtensionsConfiguration) -> Controller[Any]:
    """Completes garden access by how the process itself reaches the garden."""
    access = controller.config.garden_access
    connection = configuration.garden_client_connection
    is_complete = connection.garden_cluster_address and connection.garden_cluster_ca_cert
    if access is None or is_complete:
        return controller
    from hedgerow.registration.garden_access import GardenAccess
    from hedgerow_adapters.kubernetes.connection_files import describe_connection
    from hedgerow_adapters.kubernetes.credentials import UnusableError

    try:
        own = describe_connection(os.environ.get("KUBECONFIG") or connection.kubeconfig)
    except UnusableError as error:
        problem = "gardenClientConnection: without gardenClusterAddress and gardenClusterCACert extensions use its own"
        raise CommandError(f"{problem}, and {error}") from error
    trusted, is_verified = (own.tls.authorities or b"", own.tls.verify) if own.tls else (b"", True)
    found = GardenAccess(own.server, trusted, is_insecure=not is_verified, token_requestor=access.token_requestor)
    completed = found.overridden(connection.garden_cluster_address, access.certificate_authorities)
    return replace(controller, config=replace(controller.config, garden_access=completed))


def _care(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.care import care_controller
    from hedgerow.registration.conditions import CheckConfig

    section = configuration.controllers.controller_installation_care
    return care_controller(CheckConfig(configuration.seed, section.sync_period), section.concurrent_syncs)


def _required(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.conditions import CheckConfig
    from hedgerow.registration.required import required_controller

    section = configuration.controllers.controller_installation_required
    return required_controller(CheckConfig(configuration.seed), section.concurrent_syncs)


def _seed_check(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.conditions import CheckConfig
    from hedgerow.registration.seed_check import seed_check_controller

    section = configuration.controllers.seed_extensions_check
    config = CheckConfig(configuration.seed, section.sync_period, section.threshold)
    return seed_check_controller(config, section.concurrent_syncs)


def _shoot_extensions(configuration: SeedExtensionsConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.registration.shoot_extensions import shoot_extensions_controller

    section = configuration.controllers.shoot_extensions
    return shoot_extensions_controller(configuration.seed, section.concurrent_syncs)


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


def _of_the_only_seed(ask: Ask) -> SeedExtensionsConfiguration:
    answer = ask(ListQuestion(SEEDS, Cluster.SOURCE))
    names = [key_of(seed).name for seed in answer.objects] if isinstance(answer, Found) else []
    if len(names) > 1:
        raise CommandError(
            f"there are {len(names)} Seeds: give a --config whose seedConfig.metadata.name is one of them"
        )
    return SeedExtensionsConfiguration(seed_config=SeedConfig(metadata=SeedName(name="".join(names))))


def _process() -> "type[SeedExtensionsInstallation]":
    from hedgerow.registration.installation import SeedExtensionsInstallation

    return SeedExtensionsInstallation


COMPONENT: Final = Component(
    name="seed-extensions",
    document=SeedExtensionsConfiguration,
    without_file=_of_the_only_seed,
    settings=_settings,
    controllers=(
        *GARDEN_CONTROLLERS,
        ControllerEntry(
            "controllerinstallation",
            _installation,
            "controllerInstallation",
            aliases=("controller-installation",),
            remarks=_remarks,
            connected=_with_own_connection,
        ),
        ControllerEntry("controllerinstallation-care", _care, "controllerInstallationCare"),
        ControllerEntry("controllerinstallation-required", _required, "controllerInstallationRequired"),
        ControllerEntry("seed-extensions-check", _seed_check, "seedExtensionsCheck"),
        ControllerEntry("shoot-extensions", _shoot_extensions, "shootExtensions"),
    ),
    redaction=secret_redaction,
    installation=_process,
)
