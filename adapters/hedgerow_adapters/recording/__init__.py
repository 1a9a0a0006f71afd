"""Records of decisions as files: written beside the work of a process, read line by line."""

from hedgerow_adapters.recording.files import RecordError, RecordFile, RecordLine, record_lines
from hedgerow_adapters.recording.recorder import Recorder

__all__ = ["RecordError", "RecordFile", "RecordLine", "Recorder", "record_lines"]
