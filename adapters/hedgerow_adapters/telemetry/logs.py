"""Log lines: which are written, and how they look.

A line has a message of the registry and data as keys and values: `log.tell(Message.STARTING_WORKERS, keys=5)`. What
libraries write to the standard library's logging comes out alike. Exceptions are shown with their traceback and never
with the values of variables, which may be Secrets. A line that cannot be written is dropped: neither a full disk nor a
broken pipe ends a controller.

Source: managed-resources §3.1 (`logLevel`, `logFormat`), §4.1.
"""

import logging
import os
import sys
import uuid
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Final, Literal, TextIO, TypeAlias, cast

import structlog
from structlog.contextvars import bind_contextvars, unbind_contextvars
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from hedgerow.machinery.controller import SINGLETON
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.telemetry.messages import Message

Level: TypeAlias = Literal["debug", "info", "error"]
Format: TypeAlias = Literal["json", "text"]

SEVERITY: Final[Mapping[Level, int]] = {"debug": logging.DEBUG, "info": logging.INFO, "error": logging.ERROR}
_PLAIN: Final = frozenset({str, int, float, bool, type(None), list, tuple, dict})
"""Types of values that both formats show well; a subclass, such as a key, has a better spelling of its own."""


class Log:
    """Writes lines that have some members in common."""

    def __init__(self, bound: FilteringBoundLogger) -> None:
        self._bound = bound

    def bind(self, **members: object) -> "Log":
        """A log whose lines have these members as well."""
        return Log(self._bound.bind(**members))

    def tell(self, message: Message, *, again: bool = False, **members: object) -> None:
        """Write a line at the message's level; one that was said a short while ago only shows at level `debug`."""
        write = self._bound.debug if again else getattr(self._bound, message.severity)
        write(message.text, **members)

    @property
    def is_verbose(self) -> bool:
        """True if lines of level `debug` are written."""
        return bool(self._bound.is_enabled_for(logging.DEBUG))


def get_logger(name: str) -> Log:
    """A log whose lines say where they come from; it keeps the configuration in force when it is used first."""
    return Log(cast("FilteringBoundLogger", structlog.get_logger(logger_name=name)))


def configure_logs(level: Level, log_format: Format, stream: TextIO | None = None) -> None:
    """Write lines of a level and above, in a format, to a stream; none: standard error.

    For the whole process: a later call replaces an earlier one for loggers that are not yet in use.
    """
    out = _Lines(stream or sys.stderr)
    processors = _processors(log_format, stream or sys.stderr)
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(SEVERITY[level]),
        logger_factory=lambda *_names: out,
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _LibraryLines)]:
        root.removeHandler(handler)
    root.addHandler(_LibraryLines(processors, out))
    root.setLevel(SEVERITY[level])


def _processors(log_format: Format, stream: TextIO) -> list[Processor]:
    """What turns the data of an event into its line, step by step; in colours if a person watches who likes them."""
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        _spelled_out,
    ]
    if log_format == "json":
        as_json = structlog.processors.JSONRenderer(separators=(",", ":"))
        return [*common, structlog.processors.format_exc_info, _in_order, as_json]
    plain = structlog.dev.plain_traceback
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    as_text = structlog.dev.ConsoleRenderer(
        colors=coloured, sort_keys=False, timestamp_key="ts", exception_formatter=plain
    )
    return [*common, as_text]


def _spelled_out(_logger: Any, _method: str, event: EventDict) -> EventDict:
    for name, value in event.items():
        if type(value) not in _PLAIN and name != "exc_info":
            event[name] = str(value)
    return event


def _in_order(_logger: Any, _method: str, event: EventDict) -> Mapping[str, Any]:
    line: MutableMapping[str, Any] = {"ts": event.pop("ts"), "level": event.pop("level"), "msg": event.pop("event")}
    if "logger_name" in event:
        line["logger"] = event.pop("logger_name")
    stacktrace = event.pop("exception", None)
    line.update(event)
    if stacktrace is not None:
        line["stacktrace"] = stacktrace
    return line


class _Lines:
    """Writes lines to a stream, and drops those that it refuses: its disk is full, or its reader has gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()

    def msg(self, line: str) -> None:
        """Write a line and flush it."""
        with self._lock, suppress(OSError):
            self._stream.write(line + "\n")
            self._stream.flush()

    # structlog calls the method that is named after a line's level.
    debug = info = warning = error = critical = msg


class _LibraryLines(logging.Handler):
    def __init__(self, processors: Sequence[Processor], out: _Lines) -> None:
        super().__init__()
        self._processors = processors
        self._out = out

    def emit(self, record: logging.LogRecord) -> None:
        """Write a library's record."""
        try:
            event: Any = {"event": Message.LIBRARY.text, "logger_name": record.name, "text": record.getMessage()}
            if record.exc_info:
                event["exc_info"] = record.exc_info
            for processor in self._processors:
                event = processor(None, record.levelname.lower(), event)
            self._out.msg(event)
        except Exception:  # noqa: BLE001 -- the standard library's contract: logging never breaks its caller
            self.handleError(record)


RECONCILE_ID: Final = "reconcileID"
OBJECT: Final = "object"


def begin_reconciliation(key: ObjectKey) -> str:
    """From now on lines of this task carry a new random identity, which is returned, and an object's key."""
    reconcile_id = str(uuid.uuid4())
    bind_contextvars(**{RECONCILE_ID: reconcile_id, **({} if key == SINGLETON else {OBJECT: str(key)})})
    return reconcile_id


def end_reconciliation() -> None:
    """From now on lines of this task belong to no reconciliation."""
    unbind_contextvars(OBJECT, RECONCILE_ID)
