"""Stands between the turns of controllers and their decisions, and records each."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Kinds
from hedgerow.machinery.recording.confidential import Wardrobe
from hedgerow.machinery.recording.decisions import Header, Unrecorded
from hedgerow.machinery.recording.rehearsing import Rehearsals
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.turn import Turn
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
        self._rehearsals = Rehearsals(wardrobe)
        self._on_unrecorded = on_unrecorded
        file.append(json.dumps(header.to_json()))

    def decide(self, turn: Turn[Any], snapshot: Snapshot, now: datetime, known: Kinds) -> Plan:
        """Make a decision, and record it."""
        if not self._file.is_writing:
            return turn.plan(snapshot, now, known)
        try:
            plan = turn.plan(snapshot, now, known)
        except Exception:
            self._record(self._rehearsals.rehearsed(turn, snapshot, now, known, None))
            raise
        self._record(self._rehearsals.rehearsed(turn, snapshot, now, known, plan))
        return plan

    def _record(self, line: str | Unrecorded) -> None:
        if isinstance(line, Unrecorded):
            self._on_unrecorded(f"{line.controller} {line.key}: {line.problem}")
            line = json.dumps(line.to_json())
        self._file.append(line)
