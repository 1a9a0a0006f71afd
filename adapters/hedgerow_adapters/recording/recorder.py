"""Stands between the turns of controllers and their decisions, and records each."""

import json
from collections.abc import Callable
from typing import Any

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.recording.confidential import Wardrobe
from hedgerow.machinery.recording.decisions import Header, Unrecorded
from hedgerow.machinery.recording.rehearsing import Rehearsals
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.recording.writing import RecordFile


class Recorder:
    """Records the decisions of one run of a process."""

    def __init__(
        self, file: RecordFile, header: Header, wardrobe: Wardrobe, on_unrecorded: Callable[[str], None]
    ) -> None:
        """A run begins.

        Args:
            file: where it is recorded.
            header: what is known of all its decisions.
            wardrobe: what may be shown of them.
            on_unrecorded: is told why a decision is missing in the record.
        """
        self._file = file
        self._rehearsals = Rehearsals(wardrobe, self._record)
        self._on_unrecorded = on_unrecorded
        file.append(json.dumps(header.to_json()))

    def decide(
        self, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> Plan | Decision:
        """Make a decision, and record it."""
        if not self._file.is_writing:
            return controller.reconcile(key, snapshot, context)
        return self._rehearsals.recorded(controller, key, snapshot, context)

    def _record(self, line: str | Unrecorded | None) -> None:
        if line is None:
            return
        if isinstance(line, Unrecorded):
            self._on_unrecorded(f"{line.controller} {line.key}: {line.problem}")
            line = json.dumps(line.to_json())
        self._file.append(line)
