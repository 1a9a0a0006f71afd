"""A component as a process: how it announces itself, and what it is wired from. Source: managed-resources §4.1."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.version import __version__
from hedgerow_adapters.telemetry.logs import Format, Level, configure_logs, get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_entrypoints.components.registry import Component
from hedgerow_entrypoints.errors import CommandError
from hedgerow_entrypoints.fatal import tell_causes
from hedgerow_entrypoints.process.memory import leave_out_what_exists
from hedgerow_entrypoints.process.process import Process

if TYPE_CHECKING:
    from hedgerow_entrypoints.process.recording import Recording


def run_component(
    component: Component[Any], flags: Mapping[str, str], decoded: Decoded[Any], record: str | None
) -> None:
    """Run the process of a component until it is told to stop; `flags` are for the first line of its log.

    Raises CommandError if it cannot start; one that cannot go on ends the process.
    """
    configuration = decoded.configuration
    settings = component.settings(configuration).with_kubeconfigs(os.environ)
    configure_logs(cast("Level", settings.log_level), cast("Format", settings.log_format))
    log = get_logger(component.name)
    log.tell(Message.STARTING, component=component.name, version=__version__, flags=dict(flags))
    for warning in decoded.warnings:
        log.tell(Message.ODD_CONFIGURATION, warning=warning)
    webhooks = component.webhooks(configuration)
    recording = _recording(record, component, configuration) if record is not None else None
    leave_out_what_exists()
    process = Process(component.name, settings, partial(component.running, configuration), webhooks, recording)
    try:
        with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
            runner.run(process.run())
    except CommandError as error:
        tell_causes(log, error, decoded.as_written)
        sys.exit(error.exit_code)


def _recording(path: str, component: Component[Any], configuration: Any) -> "Recording":
    # What only a process needs that records is not loaded by the others.
    from hedgerow_entrypoints.process.recording import Recording  # noqa: PLC0415

    if component.redaction is None:
        raise CommandError(f"decisions of {component.name} cannot be recorded")
    return Recording(path, component.name, configuration.manifest(), component.redaction())


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's where it is installed (the extra `speed`), else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 -- an optional extra
    except ImportError:
        return None
    return uvloop.new_event_loop
