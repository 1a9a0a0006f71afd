"""The resource manager's process: which controllers and webhooks it runs, and how it announces itself.

Source: managed-resources §4.1, §4.2.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from hedgerow.admission import Webhook
from hedgerow.admission.config import AdmissionConfig
from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.configuration import NetworkPolicySettings, ResourceManagerConfiguration
from hedgerow.resource_manager.garbage_collection.controller import garbage_collector
from hedgerow.resource_manager.health.controller import health_controller
from hedgerow.resource_manager.health.progress_controller import progressing_controller
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.secret_controller import secret_controller
from hedgerow.resource_manager.network_policies import network_policy_controller
from hedgerow.version import __version__
from hedgerow_adapters.telemetry import Format, Level, configure_logs, get_logger
from hedgerow_entrypoints.collector import leave_out_what_exists
from hedgerow_entrypoints.declaring import (
    class_filter,
    garbage_collector_config,
    health_config,
    managed_resource_config,
)
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
    webhooks = enabled_webhooks(configuration.admission)
    leave_out_what_exists()
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(Process(component, configuration, partial(declared_controllers, configuration), webhooks).run())


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's where it is installed (the extra `speed`), else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return uvloop.new_event_loop


def declared_controllers(configuration: ResourceManagerConfiguration, cluster_id: str) -> list[Controller[Any]]:
    """The controllers of a process, in the order in which they start.

    Those of ManagedResources, their Secrets, their health and progress cannot be switched off.

    Args:
        configuration: valid.
        cluster_id: the effective id of the source cluster; it may be empty.
    """
    judging = health_config(configuration, cluster_id)
    judges = configuration.health.concurrent_syncs
    applying = managed_resource_config(configuration, cluster_id)
    return [
        *_garbage_collector(configuration),
        health_controller(judging, judges),
        progressing_controller(judging, judges),
        managed_resource_controller(applying, configuration.managed_resource.concurrent_syncs),
        *_network_policies(configuration.network_policy),
        secret_controller(class_filter(configuration), configuration.secret.concurrent_syncs),
    ]


def _garbage_collector(configuration: ResourceManagerConfiguration) -> Iterator[Controller[Any]]:
    if configuration.garbage_collector.enabled:
        yield garbage_collector(garbage_collector_config(configuration))


def _network_policies(settings: NetworkPolicySettings) -> Iterator[Controller[Any]]:
    if settings.enabled and settings.concurrent_syncs is not None:
        yield network_policy_controller(settings.rules, settings.concurrent_syncs)


def enabled_webhooks(config: AdmissionConfig) -> Sequence[Webhook]:
    """The enabled webhooks, in the order in which API servers call them."""
    if config == AdmissionConfig():
        return ()
    # Slow to import, and many processes serve none.
    from hedgerow.admission.catalog import webhooks  # noqa: PLC0415

    return webhooks(config)
