"""The controllers that the offline commands know by name, and the configuration that they go by."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.restriction import restricted
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_entrypoints.errors import note

if TYPE_CHECKING:
    from hedgerow.resource_manager.configuration import ResourceManagerConfiguration


def _network_policy(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    return network_policy_controller(configuration.network_policy.rules if configuration else NetworkPolicyConfig())


CONTROLLERS: Final[dict[str, Callable[["ResourceManagerConfiguration | None"], Controller[Any]]]] = {
    "network-policy": _network_policy
}


def offline_configuration(config_file: str | None) -> "ResourceManagerConfiguration | None":
    """What a component configuration file says, with a note of what is odd in it; none without a file.

    Raises:
        CommandError: it cannot be read, decoded or accepted.
    """
    if config_file is None:
        return None
    # Slow to import, and most plans do without a configuration.
    from hedgerow.resource_manager.configuration import decode_offline  # noqa: PLC0415
    from hedgerow_entrypoints.configuration import read_configuration  # noqa: PLC0415

    decoded = read_configuration(config_file, decode_offline)
    for warning in decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return decoded.configuration


def chosen_controllers(
    names: Sequence[str], configuration: "ResourceManagerConfiguration | None"
) -> list[Controller[Any]]:
    """The controllers of these names, each once, configured and restricted as a component configuration says."""
    controllers = [CONTROLLERS[name](configuration) for name in dict.fromkeys(names)]
    if configuration is None:
        return controllers
    source, target = configuration.source.namespaces, configuration.looked_after.namespaces
    return [restricted(controller, source=source, target=target) for controller in controllers]


def namespaces_looked_after(configuration: "ResourceManagerConfiguration | None") -> Sequence[str]:
    """The namespaces that a component configuration lets controllers see; none: all."""
    return configuration.looked_after.namespaces if configuration else ()
