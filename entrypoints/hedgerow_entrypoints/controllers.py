"""The controllers that the offline commands know by name."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller
from hedgerow_entrypoints.errors import note


def _network_policy(config_file: str | None) -> Controller[Any]:
    if config_file is None:
        return network_policy_controller(NetworkPolicyConfig())
    # Slow to import, and most plans do without a configuration.
    from hedgerow.resource_manager.configuration import decode_offline  # noqa: PLC0415
    from hedgerow_entrypoints.configuration import read_configuration  # noqa: PLC0415

    decoded = read_configuration(config_file, decode_offline)
    for warning in decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return network_policy_controller(decoded.configuration.network_policy.rules)


CONTROLLERS: Final[dict[str, Callable[[str | None], Controller[Any]]]] = {"network-policy": _network_policy}


def chosen_controllers(names: Sequence[str], config_file: str | None) -> list[Controller[Any]]:
    """The controllers of these names, each once, configured as a component configuration file says."""
    return [CONTROLLERS[name](config_file) for name in dict.fromkeys(names)]
