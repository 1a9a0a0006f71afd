"""How a process ends that cannot start, or cannot go on: log lines that say why, and exit code 1."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hedgerow_adapters.telemetry.logs import Log, configure_logs, get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_entrypoints.errors import CommandError


@contextmanager
def failures_are_logged(component: str) -> Iterator[None]:
    """Log what ends a process, and exit; until the configuration is read, in the default format, JSON."""
    configure_logs("info", "json")
    log = get_logger(component)
    try:
        yield
    except CommandError as error:
        if error.log_format is not None:
            configure_logs("info", error.log_format)
            log = get_logger(component)
        for warning in error.warnings:
            log.tell(Message.ODD_CONFIGURATION, warning=warning)
        tell_causes(log, error)
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 -- a defect is a line like any other, with its traceback
        log.tell(Message.PROCESS_DEFECT, exc_info=error)
        sys.exit(1)


def tell_causes(log: Log, error: CommandError, written: Callable[[str], str] = str) -> None:
    """A line for each cause; `written` spells a field as the author of the configuration did."""
    for cause in error.causes:
        about = {"field": written(cause.field), "file": cause.file}
        log.bind(**{name: value for name, value in about.items() if value}).tell(
            Message.PROCESS_FAILED, error=cause.error
        )
