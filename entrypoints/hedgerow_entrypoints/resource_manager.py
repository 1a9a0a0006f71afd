"""The resource manager's process: which controllers and webhooks it runs, and how it announces itself.

Source: managed-resources §4.1, §4.2.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from hedgerow.admission import Webhook
from hedgerow.admission.config import AdmissionConfig
from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.health.controller import health_controller
from hedgerow.resource_manager.health.progress_controller import progressing_controller
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.secret_controller import secret_controller
from hedgerow.version import __version__
from hedgerow_adapters.telemetry import Format, Level, configure_logs, get_logger
from hedgerow_entrypoints import optional_controllers
from hedgerow_entrypoints.collector import leave_out_what_exists
from hedgerow_entrypoints.declaring import (
    class_filter,
    health_config,
    managed_resource_config,
)
from hedgerow_entrypoints.process import Process

if TYPE_CHECKING:
    from hedgerow_entrypoints.recording import Recording

_Declare: TypeAlias = Callable[[ResourceManagerConfiguration], Controller[Any]]


class _Switched(Protocol):
    """The settings of a controller that may be off."""

    @property
    def enabled(self) -> bool:
        """Whether it runs."""
        ...


def run_resource_manager(
    component: str,
    flags: Sequence[tuple[str, str]],
    configuration: ResourceManagerConfiguration,
    warnings: Sequence[str],
    record: str | None = None,
) -> None:
    """Run the process until it is told to stop.

    Args:
        component: its name, as logs show it.
        flags: what the command line said, for the first lines of the log.
        configuration: valid, with the kubeconfigs that the environment names.
        warnings: what is odd in the configuration file.
        record: the file in which decisions are recorded; none: they are not.

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
    recording = _recording(record, component, configuration) if record is not None else None
    leave_out_what_exists()
    process = Process(component, configuration, partial(declared_controllers, configuration), webhooks, recording)
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(process.run())


def _recording(path: str, component: str, configuration: ResourceManagerConfiguration) -> "Recording":
    # What only a process needs that records is not loaded by the others.
    from hedgerow_entrypoints.recording import Recording  # noqa: PLC0415

    return Recording(path, component, configuration)


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

    def optional(settings: _Switched, declare: _Declare) -> list[Controller[Any]]:
        return [declare(configuration)] if settings.enabled else []

    return [
        *optional(configuration.kubelet_csr_approver, optional_controllers.kubelet_csr_approver),
        *optional(configuration.garbage_collector, optional_controllers.garbage_collector),
        health_controller(judging, judges),
        progressing_controller(judging, judges),
        managed_resource_controller(applying, configuration.managed_resource.concurrent_syncs),
        *optional(configuration.network_policy, optional_controllers.network_policy),
        secret_controller(class_filter(configuration), configuration.secret.concurrent_syncs),
        *optional(configuration.token_invalidator, optional_controllers.token_invalidator),
        *optional(configuration.token_requestor, optional_controllers.token_requestor),
        *optional(configuration.node, optional_controllers.node),
    ]


def enabled_webhooks(config: AdmissionConfig) -> Sequence[Webhook]:
    """The enabled webhooks, in the order in which API servers call them."""
    if config == AdmissionConfig():
        return ()
    # Slow to import, and many processes serve none.
    from hedgerow.admission.catalog import webhooks  # noqa: PLC0415

    return webhooks(config)
