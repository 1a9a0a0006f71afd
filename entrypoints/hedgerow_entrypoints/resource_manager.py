"""The resource manager's process: which controllers and webhooks a configuration enables, how it announces itself.

Source: managed-resources §4.1, §4.2.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from hedgerow.admission import Webhook
from hedgerow.admission.config import AdmissionConfig
from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.network_policies import network_policy_controller
from hedgerow.version import __version__
from hedgerow_adapters.telemetry import Format, Level, configure_logs, get_logger
from hedgerow_entrypoints.collector import leave_out_what_exists
from hedgerow_entrypoints.process import Process


def run_resource_manager(
    component: str,
    flags: Sequence[tuple[str, str]],
    configuration: ResourceManagerConfiguration,
    warnings: Sequence[str],
) -> None:
    """Run the process until it is told to stop.

    Args:
        component: its name, as logs show it.
        flags: what the command line said, for the first lines of the log.
        configuration: valid, with the kubeconfigs that the environment names.
        warnings: what is odd in the configuration file.

    Raises:
        CommandError: it could not start, or lost its lease.
    """
    configure_logs(cast("Level", configuration.log_level), cast("Format", configuration.log_format))
    log = get_logger(component)
    announce = [f"Starting {component} {__version__}", *(f"FLAG: --{name}={value}" for name, value in flags)]
    for line in announce:
        log.info(line)
    for warning in warnings:
        log.warning("Configuration is odd", warning=warning)
    controllers, webhooks = target_controllers(configuration), enabled_webhooks(configuration.admission)
    if not controllers and not webhooks:
        log.warning("Neither a controller nor a webhook is enabled")
    leave_out_what_exists()
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(Process(component, configuration, controllers, webhooks).run())


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's where it is installed (the extra `speed`), else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return uvloop.new_event_loop


def target_controllers(configuration: ResourceManagerConfiguration) -> list[Controller[Any]]:
    """The enabled controllers that look after the target cluster, in the order in which they start."""
    settings = configuration.network_policy
    if not settings.enabled or settings.concurrent_syncs is None:
        return []
    return [network_policy_controller(settings.rules, settings.concurrent_syncs)]


def enabled_webhooks(config: AdmissionConfig) -> Sequence[Webhook]:
    """The enabled webhooks, in the order in which API servers call them."""
    if config == AdmissionConfig():
        return ()
    # Slow to import, and many processes serve none.
    from hedgerow.admission.catalog import webhooks  # noqa: PLC0415

    return webhooks(config)
