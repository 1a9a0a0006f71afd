"""Stands between the turns of controllers and their decisions, and records each.

A decision is made once and does not wait for its record. Redaction, shadow runs and writing happen afterwards in the
thread of the file.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Decision, Plan
from hedgerow.machinery.recording.codec import Header, UnrecordableError, line_of
from hedgerow.machinery.recording.journal import LiveTurn, Unrecorded, journaled
from hedgerow.machinery.recording.playback import Redaction, ShadowRuns, TooMuchToRedactError
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.recording.files import RecordFile


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
