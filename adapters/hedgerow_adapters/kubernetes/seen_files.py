"""Whether files have changed since something was read from them."""

from pathlib import Path
from typing import TypeAlias

_State: TypeAlias = tuple[int, int, int]


class SeenFiles:
    """The files that something is read from, as they were just before they were read.

    Those that are missing belong to them: when one appears, that is a change.
    """

    __slots__ = ("_states",)

    def __init__(self) -> None:
        self._states: dict[Path, _State | None] = {}

    def read(self, path: Path) -> bytes:
        """The content of a file, which counts as seen even if it cannot be read.

        Raises:
            OSError: it cannot be read.
        """
        self._states[path] = _state_of(path)
        return path.read_bytes()

    def have_changed(self) -> bool:
        """Whether reading again could come to something else; one look at the state of each file."""
        return any(_state_of(path) != state for path, state in self._states.items())


def _state_of(path: Path) -> _State | None:
    """What tells one content of a file from another, without reading it; none if there is no such file."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
