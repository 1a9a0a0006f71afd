"""How a process ends whose main loop stands still, or whose stop hangs.

Called on another thread. What holds the main loop may hold its output as well, such as a pipe that is not read, so
nothing here waits for that without a limit.
"""

import os
import sys
import threading
import traceback
from typing import Final, Never

from hedgerow_adapters.telemetry.logs import get_logger
from hedgerow_adapters.telemetry.messages import Message

_TELLING: Final = 2.0
"""Seconds for the last words."""


def end_stuck_process(component: str, problem: str) -> Never:
    """Say what is wrong and where the main thread stands, and end the process."""
    telling = threading.Thread(target=_tell, args=(component, problem), daemon=True)
    telling.start()
    telling.join(_TELLING)
    os._exit(1)


def _tell(component: str, problem: str) -> None:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)  # noqa: SLF001 -- the documented name
    stacktrace = "".join(traceback.format_stack(frame)) if frame is not None else ""
    get_logger(component).tell(Message.STUCK, error=problem, stacktrace=stacktrace)
