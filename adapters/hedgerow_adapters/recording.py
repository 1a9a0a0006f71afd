"""Records of decisions as files: written beside the work of a process, read line by line.

A decision is made once and does not wait for its record: redaction, shadow runs and writing happen afterwards, in a
thread of the file.

Guarantees: lines are whole and in order, but for the last one where the process or the disk ends in the middle of it.
When one cannot be written, or too much waits, that is told once, and nothing more is written: a record with a gap could
not be repeated. The process goes on with its work. A file has one writer at a time; only its owner may read it.
"""

import errno
import fcntl
import os
import queue
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.recording.codec import Header, Line, UnknownValueError, UnrecordableError, line_of, parsed_line
from hedgerow.machinery.recording.journal import LiveTurn, Unrecorded, journaled
from hedgerow.machinery.recording.playback import Redaction, ShadowRuns, TooMuchToRedactError
from hedgerow.machinery.snapshot import Snapshot

MOST_WAITING: Final = 64 * 1024 * 1024
"""Bytes that wait, in memory and for the disk."""
LONGEST_END: Final = 5.0
"""Seconds that what waits gets to be written at the end."""
_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OPENING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class RecordFile:
    """A file that lines are appended to; closed by `close`."""

    def __init__(self, path: Path, on_failure: Callable[[str], None]) -> None:
        """Open the file, or make it, for its owner alone.

        `on_failure` is told, perhaps from another thread, why nothing more is written.

        Raises:
            OSError: it cannot be opened, is a link, is for others to read, or somebody else is writing it.
        """
        self._descriptor = _opened(path)
        self._on_failure = on_failure
        self._waiting: queue.SimpleQueue[tuple[Callable[[], str], int] | None] = queue.SimpleQueue()
        self._bytes_waiting = 0
        self._lock = threading.Lock()
        self._failed = False
        # A daemon: a disk that does not answer must not keep the process from its end.
        self._thread = threading.Thread(target=self._write, name="record", daemon=True)
        if _ends_in_the_middle_of_a_line(self._descriptor):
            self.append("")
        self._thread.start()

    @property
    def is_writing(self) -> bool:
        """Whether what is appended will be written, as far as is known."""
        return not self._failed

    def append(self, line: str) -> None:
        """Have a line written after all others."""
        self.append_later(lambda: line, len(line))

    def append_later(self, make: Callable[[], str], weight: int) -> None:
        """Have the thread that writes make a line of about so many bytes, and write it after all others."""
        with self._lock:
            if self._failed:
                return
            self._bytes_waiting += weight
            is_behind = self._bytes_waiting > MOST_WAITING
        if is_behind:
            self._fail("too much waits to be written")
        else:
            self._waiting.put((make, weight))

    def close(self) -> None:
        """Have written what waits, as far as that takes no longer than a few seconds, and close the file."""
        self._waiting.put(None)
        self._thread.join(LONGEST_END)

    def _write(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            make, weight = waiting
            del waiting
            if not self._failed:
                try:
                    _write_all(self._descriptor, f"{make()}\n".encode(errors="surrogatepass"))
                except OSError as error:
                    self._fail(error.strerror or str(error))
            del make
            with self._lock:
                self._bytes_waiting -= weight
        os.close(self._descriptor)

    def _fail(self, problem: str) -> None:
        with self._lock:
            is_first, self._failed = not self._failed, True
        if is_first:
            self._on_failure(problem)


def _opened(path: Path) -> int:
    """The descriptor of a file that this process may append to, and nobody else writes or reads."""
    try:
        descriptor = os.open(path, _OPENING, _OWNER_ONLY)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a symbolic link: name the file itself") from error
        raise
    try:
        _claim(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _claim(descriptor: int) -> None:
    """Insist that a file is this process's own until it is closed; pipes and devices are as their owner wants them."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "belongs to somebody else")
    if status.st_mode & _OTHERS:
        raise PermissionError(errno.EPERM, "others may read or write it: chmod 600 makes it its owner's alone")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BlockingIOError(error.errno, "another process is recording in it") from error


def _write_all(descriptor: int, data: bytes) -> None:
    written = 0
    while written < len(data):
        written += os.write(descriptor, data[written:])


def _ends_in_the_middle_of_a_line(descriptor: int) -> bool:
    """True after a writer was killed."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


class RecordError(Exception):
    """A file is no record, or none that can be read from its beginning to its end; names file and line."""


class RecordLine(NamedTuple):
    """One line of a record; without content it is incomplete, because the process that wrote it was killed."""

    number: int
    content: Line | None


def record_lines(path: Path) -> Iterator[RecordLine]:
    """The lines of a record in their order.

    Raises:
        RecordError: the file is no record, or broken elsewhere than where the record of a run ends.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        torn: int | None = None
        number = 0
        for line in _parsed(path, file):
            number = line.number
            if torn is not None and not isinstance(line.content, Header):
                raise RecordError(f"{path}: line {torn}: is no line of a record")
            if line.number == 1 and not isinstance(line.content, Header):
                raise RecordError(f"{path}: is no record: its first line does not say who decides")
            torn = line.number if line.content is None else None
            yield line
        if number == 0:
            raise RecordError(f"{path}: is no record: it is empty")


def _parsed(path: Path, lines: Iterable[bytes]) -> Iterator[RecordLine]:
    for number, line in enumerate(lines, start=1):
        try:
            yield RecordLine(number, parsed_line(line))
        except ValueError:
            yield RecordLine(number, None)
        except RecursionError as error:
            raise RecordError(f"{path}: line {number}: is nested too deeply") from error
        except UnknownValueError as error:
            raise RecordError(f"{path}: line {number}: {error}") from error


class Recorder:
    """Records the decisions of one run of a process."""

    def __init__(
        self, file: RecordFile, header: Header, redaction: Redaction, on_unrecorded: Callable[[str], None]
    ) -> None:
        """A run begins; `on_unrecorded` is told, from another thread, why a decision is missing in the record."""
        self._file = file
        self._shadow_runs = ShadowRuns(redaction)
        self._on_unrecorded = on_unrecorded
        self._turns = 0
        file.append(header.to_line())

    def decide(
        self, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> Plan | Decision:
        """Make a decision, and record it."""
        if not self._file.is_writing:
            return controller.reconcile(key, snapshot, context)
        return journaled(controller, key, snapshot, context, self._keep)

    def _keep(self, turn: LiveTurn) -> None:
        self._file.append_later(partial(self._line, turn), turn.journal.weight)

    def _line(self, turn: LiveTurn) -> str:
        """The line of a turn; turns are given in their order."""
        self._turns += 1
        try:
            return line_of(replace(self._shadow_runs.recordable(turn), turn=self._turns))
        except (TooMuchToRedactError, UnrecordableError) as error:
            problem = str(error)
        except RecursionError:
            problem = "something in it is nested too deeply"
        except Exception as error:  # noqa: BLE001 -- a defect of the record must not stop the process
            # The text of an exception may hold values of Secrets.
            problem = f"defect: {type(error).__name__}"
        self._shadow_runs.forget(turn)
        gap = Unrecorded(turn.journal.controller, turn.journal.key, self._turns, problem)
        self._on_unrecorded(f"{gap.controller} {gap.key}: {problem}")
        return line_of(gap)
