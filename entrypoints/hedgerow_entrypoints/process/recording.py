"""The record of what a process decides: `hedgerow run … --record FILE`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.machinery.recording.codec import Header
from hedgerow.machinery.recording.playback import Redaction
from hedgerow.version import __version__
from hedgerow_adapters.recording import Recorder, RecordFile
from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message
from hedgerow_entrypoints.errors import CommandError


class Recording:
    """The record of one process: opened before it starts, so that a wrong path is told at once."""

    def __init__(self, path: str, component: str, configuration: Mapping[str, Any], redaction: Redaction) -> None:
        """Open the file; what it holds already stays. Raises CommandError if it cannot be opened."""
        self._log = get_logger(component)
        self._component = component
        self._configuration = configuration
        self._redaction = redaction
        try:
            self._file = RecordFile(Path(path), self._tell_of_end)
        except OSError as error:
            raise CommandError(f"error opening record: {path}: {error.strerror}", field="--record") from error

    def begin(self, cluster_id: str) -> Recorder:
        """Begin the record, once the effective id of the source cluster is known."""
        header = Header(__version__, self._component, cluster_id, self._configuration)
        return Recorder(self._file, header, self._redaction, self._tell_of_gap)

    def end(self) -> None:
        """Have the rest of it written."""
        self._file.close()

    def _tell_of_end(self, problem: str) -> None:
        self._log.tell(Message.RECORDING_ENDED, error=problem)

    def _tell_of_gap(self, problem: str) -> None:
        self._log.tell(Message.RECORDING_GAP, error=problem)
