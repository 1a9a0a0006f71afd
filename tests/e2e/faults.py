"""Faults of the shared API server that are over when their block ends, however it ends."""

import contextlib
import os
import signal
from collections.abc import Iterator

from tests.control_plane import ControlPlane


@contextlib.contextmanager
def no_api_server(control_plane: ControlPlane) -> Iterator[None]:
    """Nobody listens on its port."""
    control_plane.stop_api_server(grace=0)
    try:
        yield
    finally:
        control_plane.start_api_server()


@contextlib.contextmanager
def silent_api_server(control_plane: ControlPlane) -> Iterator[None]:
    """It accepts connections and answers nothing: its process stands still."""
    process = control_plane._now.api_server.pid
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)
