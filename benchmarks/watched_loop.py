"""The command with somebody beside it who notes how long its event loop serves nobody.

Takes a file, and then what the command takes. A timer of the loop is due every 5 ms; how much later it comes is for how
long the loop was at something else. A thread looks what that is. Each block of 20 ms and more is a line of the file.
"""

import asyncio
import json
import sys
import threading
import time
import traceback
from collections.abc import Coroutine
from contextvars import Context
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

INTERVAL: Final = 0.005
NOTED: Final = 0.02
_SUSPICIOUS: Final = 0.015
"""Seconds without the timer after which the thread looks."""
_FRAMES: Final = 4
_T = TypeVar("_T")


class Watch:
    """Looks at the loop of the main thread."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._at = time.perf_counter()
        self._computed = time.thread_time()
        self._seen = ""
        self._main = threading.get_ident()

    def begin(self) -> None:
        """Note blocks from now on."""
        threading.Thread(target=self._look, name="watch", daemon=True).start()
        self._tick()

    def _tick(self) -> None:
        now, computed = time.perf_counter(), time.thread_time()
        block = now - self._at - INTERVAL
        if block >= NOTED:
            line = {"at": time.time(), "seconds": block, "computed": computed - self._computed, "in": self._seen}
            self._file.write(f"{json.dumps(line)}\n")
            self._file.flush()
        self._at, self._computed, self._seen = time.perf_counter(), computed, ""
        self._loop.call_later(INTERVAL, self._tick)

    def _look(self) -> None:
        while True:
            time.sleep(INTERVAL)
            if time.perf_counter() - self._at > INTERVAL + _SUSPICIOUS and not self._seen:
                frame = sys._current_frames().get(self._main)  # noqa: SLF001 -- there is no public way
                stack = [each for each in traceback.extract_stack(frame) if "<frozen" not in each.filename][-_FRAMES:]
                places = (f"{Path(each.filename).stem}.{each.name}:{each.lineno}" for each in reversed(stack))
                self._seen = " < ".join(places)


def main() -> None:
    """Run the command."""
    with Path(sys.argv.pop(1)).open("a", encoding="utf-8") as file:
        run = asyncio.Runner.run

        def run_watched(runner: asyncio.Runner, coro: Coroutine[Any, Any, _T], *, context: Context | None = None) -> _T:
            is_main = threading.current_thread() is threading.main_thread()
            return run(runner, _watched(coro, file) if is_main else coro, context=context)

        setattr(asyncio.Runner, "run", run_watched)  # noqa: B010 -- the type is final; the command uses it
        from hedgerow_entrypoints.cli.command import main as command  # noqa: PLC0415 -- what it imports sees the above

        command()


async def _watched(coro: Coroutine[Any, Any, _T], file: TextIO) -> _T:
    Watch(file).begin()
    return await coro
