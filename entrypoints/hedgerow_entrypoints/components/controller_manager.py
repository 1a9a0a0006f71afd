"""The process of the garden: it decides which extensions seeds need (controller-registration §4, §5, §13)."""

from typing import Any, Final

from hedgerow.registration.configuration import ControllerManagerConfiguration
from hedgerow_entrypoints.components.registry import Component, ControllerEntry
from hedgerow_entrypoints.process.settings import ProcessSettings

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


COMPONENT: Final = Component(
    name="controller-manager",
    document=ControllerManagerConfiguration,
    without_file=lambda _ask: ControllerManagerConfiguration(),
    settings=_settings,
    controllers=GARDEN_CONTROLLERS,
)
