"""The resource manager's process: which webhooks it serves, and how it announces itself.

Source: managed-resources §4.1, §4.2.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from hedgerow.admission import Webhook
from hedgerow.admission.config import AdmissionConfig
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.version import __version__
from hedgerow_adapters.telemetry import Format, Level, configure_logs, get_logger
from hedgerow_entrypoints.components.resource_manager_controllers import declared_controllers
from hedgerow_entrypoints.process.collector import leave_out_what_exists
from hedgerow_entrypoints.process.process import Process

if TYPE_CHECKING:
    from hedgerow_entrypoints.process.recording import Recording


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
    from hedgerow_entrypoints.process.recording import Recording  # noqa: PLC0415

    return Recording(path, component, configuration)


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's where it is installed (the extra `speed`), else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return uvloop.new_event_loop


def enabled_webhooks(config: AdmissionConfig) -> Sequence[Webhook]:
    """The enabled webhooks, in the order in which API servers call them."""
    if config == AdmissionConfig():
        return ()
    # Slow to import, and many processes serve none.
    from hedgerow.admission.catalog import webhooks  # noqa: PLC0415

    return webhooks(config)
