"""Makes a decision a second time, from what a record may show, so that the record can be repeated exactly.

While a decision is made, a second one is made beside it from disguised input; the record holds the second. It is told
the replies to the steps of the first. Once the two want different things the second ends, and the record says what the
process did. What one turn leaves to the next comes from the second decision too: nothing in the record comes of
anything that it must not show.

The second decision may pause more often, or less: disguised values have other lengths. So it does not wait for pauses
of the first: it does one slice of its work at each of them, and the rest before the next step that asks or writes.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.execution import Execution
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.recording.codec import Json, UnrecordableError
from hedgerow.machinery.recording.confidential import TooMuchToShowError, Wardrobe
from hedgerow.machinery.recording.decisions import Unrecorded, segment_to_json
from hedgerow.machinery.recording.plans import outline
from hedgerow.machinery.recording.reads import NotingSnapshot
from hedgerow.machinery.recording.segments import Segment, is_minor, is_reply_to_both, shown, wanted
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now, Pause, Step


class Rehearsals:
    """The recorded decisions of a run."""

    def __init__(self, wardrobe: Wardrobe, write: Callable[[str | Unrecorded], None]) -> None:
        """No decision yet.

        Args:
            wardrobe: what the record shows of things.
            write: takes the lines of the record, and why one is missing.
        """
        self.wardrobe = wardrobe
        self.write = write
        self.turns = 0
        self.left: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key leaves to the next one."""
        self.told: dict[tuple[str, ObjectKey], object] = {}
        """What the last turn of a key was told, if the record shows that as well."""

    async def recorded(
        self, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> Plan:
        """The plan of a decision, which is recorded."""
        with (
            closing(_Rehearsal(self, controller, key, snapshot, context)) as rehearsal,
            Execution(_decision(controller, key, snapshot, context), key) as execution,
        ):
            try:
                state = execution.begin()
                while isinstance(state, Step):
                    rehearsal.follow(state)
                    reply = await state
                    rehearsal.tell(state, reply)
                    state = execution.go_on(reply)
            except Exception:
                rehearsal.follow(None)
                raise
            rehearsal.follow(state)
            return state


async def _decision(controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]) -> Plan:
    decision = controller.reconcile(key, snapshot, context)
    return decision if isinstance(decision, Plan) else await decision


class _Rehearsal:
    """One decision from disguised input."""

    def __init__(
        self, run: Rehearsals, controller: Controller[Any], key: ObjectKey, snapshot: Snapshot, context: Context[Any]
    ) -> None:
        run.turns += 1
        self._run = run
        self._turn = run.turns
        self._place = (controller.name, key)
        left = run.left.pop(self._place, None)
        self._memory = left if context.state is not None else None
        self._disguise = run.wardrobe.disguise()
        self._world = NotingSnapshot(snapshot, self._disguise.object)
        self._context = replace(context, state=self._memory)
        self._execution = Execution(_decision(controller, key, self._world, self._context), key)
        self._number = 0
        self._replies: list[Any] = []
        self._now = context.now
        self._state: Step[Any] | Plan | None = None
        """What the second decision wants; none before it begins, and once it has raised."""
        self._raised = ""
        self._is_over = False

    def close(self) -> None:
        """Stop the decision where it waits."""
        self._execution.close()

    def tell(self, step: Step[Any], reply: Any) -> None:
        """Take the reply to a step of the decision that counts."""
        if self._is_over:
            return
        if isinstance(step, Now):
            self._now = reply
            if isinstance(self._state, Now):
                self._reply(reply)
        if isinstance(step, Now | Pause):
            return
        try:
            self._reply(shown(step, reply, self._disguise))
        except TooMuchToShowError as error:
            self._break_off(str(error))

    def follow(self, real: Step[Any] | Plan | None) -> None:
        """Advance to the next step, and record the segment up to it.

        Args:
            real: what the decision that counts wants; none: it raised.
        """
        if self._is_over:
            return
        try:
            self._follow(real)
        except UnrecordableError as error:
            self._break_off(str(error))
        except RecursionError:
            self._break_off("something in it is nested too deeply")
        except Exception as error:  # noqa: BLE001 -- a defect of the record must not stop the process
            # What it says may show what nobody may read.
            self._break_off(f"defect: {type(error).__name__}")

    def _follow(self, real: Step[Any] | Plan | None) -> None:
        if self._state is None and not self._raised:
            self._advance(self._execution.begin)
        while isinstance(self._state, Now | Pause) and not isinstance(real, Now):
            is_pause = isinstance(self._state, Pause)
            if is_pause and self._world.reads:
                # What was read before may look different afterwards.
                self._write(wanted(self._state), "", None)
            self._reply(None if is_pause else self._now)
            if is_pause and isinstance(real, Pause):
                break
        if isinstance(real, Now | Pause):
            return
        state = self._state
        follows = real is not None and state is not None and is_reply_to_both(real, state)
        if follows and state is not None and is_minor(state, self._world.reads):
            return
        self._is_over = not follows or isinstance(state, Plan)
        if self._is_over:
            self._keep(self._run.left, state.state if follows and isinstance(state, Plan) else None)
        self._write(None if state is None else wanted(state), self._raised, _otherwise(real, state))

    def _reply(self, reply: Any) -> None:
        """Go on with the reply to the step that the second decision waits for."""
        self._replies.append(reply)
        self._advance(lambda: self._execution.go_on(reply))

    def _advance(self, advance: Callable[[], Step[Any] | Plan]) -> None:
        try:
            self._state = advance()
        except Exception as error:  # noqa: BLE001 -- a defect is what is worth a record
            self._state, self._raised = None, type(error).__name__

    def _write(self, wants: Json, raised: str, acted: Sequence[str] | None) -> None:
        is_first = self._number == 0
        memory = self._memory if is_first else None
        as_before = memory is not None and self._run.told.get(self._place) is memory
        segment = Segment(
            *self._place,
            turn=self._turn,
            number=self._number,
            now=self._context.now,
            jitter=self._context.jitter,
            server_versions=self._context.server_versions,
            memory=None if as_before else memory,
            remembers_as_before=as_before,
            reads=dict(self._world.reads),
            replies=tuple(self._replies),
            wants=wants,
            raised=raised,
            acted=acted,
        )
        self._run.write(json.dumps(segment_to_json(segment)))
        self._world.reads.clear()
        self._replies.clear()
        self._number += 1
        if self._is_over and self._place not in self._run.left:
            self._run.told.pop(self._place, None)
        elif is_first:
            self._keep(self._run.told, memory)

    def _break_off(self, problem: str) -> None:
        """Leave a gap in the record: what the turn was told does not count as known afterwards."""
        self._is_over = True
        self._run.told.pop(self._place, None)
        self._run.write(Unrecorded(*self._place, self._turn, problem))

    def _keep(self, kept: dict[tuple[str, ObjectKey], object], memory: object) -> None:
        if memory is None:
            kept.pop(self._place, None)
        else:
            kept[self._place] = memory


def _otherwise(real: Step[Any] | Plan | None, recorded: Step[Any] | Plan | None) -> Sequence[str] | None:
    """What the process wants, where that is not what is recorded."""
    one, other = (outline(each) if each is not None else ["raised"] for each in (real, recorded))
    return None if sorted(one) == sorted(other) else one
