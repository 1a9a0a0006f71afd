"""The Authorization header of a request: fixed, or from a token file that somebody else renews.

Secret values show in no text of these objects.
"""

from pathlib import Path
from typing import Protocol

from hedgerow_adapters.kubernetes.seen_files import FileState, state_of


class Authorization(Protocol):
    """Where the Authorization header comes from."""

    def header(self) -> str:
        """The header's value for a request sent now; empty: send none."""
        ...

    def renewed(self) -> str:
        """The header's value after the server refused the last one: everything is read again."""
        ...


class FixedAuthorization:
    """A header that does not change as long as the process runs."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def header(self) -> str:
        """The value."""
        return self._value

    def renewed(self) -> str:
        """The same value."""
        return self._value


class TokenFile:
    """A bearer token in a file, read again when the file is another or has changed.

    The kubelet replaces the tokens of service accounts well before they expire. A file that cannot be read, or is
    empty, while it is being replaced leaves the last token in use.
    """

    __slots__ = ("_path", "_seen", "_value")

    def __init__(self, path: Path, header: str = "") -> None:
        """Nothing is read yet; `header` is the value to use until the file can be read."""
        self._path = path
        self._value = header
        self._seen: FileState | None = None

    def header(self) -> str:
        """The token that stands in the file now; one look at the file's state where it is unchanged."""
        state = state_of(self._path)
        if state is None or state == self._seen:
            return self._value
        return self._read(state)

    def renewed(self) -> str:
        """The token that stands in the file now, even if the file looks unchanged."""
        return self._read(state_of(self._path))

    def _read(self, state: FileState | None) -> str:
        try:
            token = self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return self._value
        if token and token.isprintable():
            self._value, self._seen = f"Bearer {token}", state
        return self._value
