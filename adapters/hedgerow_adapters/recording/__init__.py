"""Records of decisions as files: written beside the work of a process, read line by line."""

from hedgerow_adapters.recording.reading import RecordError, RecordLine, record_lines
from hedgerow_adapters.recording.recorder import Recorder
from hedgerow_adapters.recording.writing import RecordFile

__all__ = ["RecordError", "RecordFile", "RecordLine", "Recorder", "record_lines"]
