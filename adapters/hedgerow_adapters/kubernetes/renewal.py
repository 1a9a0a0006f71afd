"""Whether what a connection trusts and shows has changed in its files, and what it uses if they cannot be used.

Clusters renew tokens, certificates and authorities by replacing files, and take the old ones back soon after. What is
half written, broken, or for another server leaves the last usable state in use: a request never fails for it.
"""

import time
from collections.abc import Callable
from typing import Final, NamedTuple, Self, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.connection_files import SeenFiles
from hedgerow_adapters.kubernetes.identity import Credentials, Description, change_for_a_restart
from hedgerow_adapters.kubernetes.tls import tls_context

Reader: TypeAlias = Callable[[SeenFiles], Result[Description, str]]

LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the files: one for each request would cost more than all else about credentials."""


class _Used(NamedTuple):
    """A usable description, with what was made from it."""

    description: Description
    credentials: Credentials


class Renewal:
    """Trust and identity of one connection, made again when the files they come from have changed.

    TLS settings are replaced, never changed: a connection that was made with the last ones is told by them from a new
    one, and an unusable pair harms none. They stay the same object as long as they say the same.
    """

    __slots__ = ("_clock", "_files", "_looked", "_on_problem", "_read", "_told", "_used")

    def __init__(
        self,
        read: Reader,
        files: SeenFiles,
        used: _Used,
        on_problem: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._read = read
        self._files = files
        self._used = used
        self._on_problem = on_problem
        self._clock = clock
        self._looked = clock()
        self._told = ""

    @classmethod
    def begun(
        cls, read: Reader, on_problem: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> Result[Self, str]:
        """The first reading, or why it is not usable.

        Args:
            read: what the files say now.
            on_problem: told, as a sentence, when a later reading is not usable; once as long as it stays the same.
            clock: monotonic seconds.
        """
        files = SeenFiles()
        return read(files).bind(_used).map(lambda used: cls(read, files, used, on_problem, clock))

    @property
    def description(self) -> Description:
        """What is in use."""
        return self._used.description

    def credentials(self) -> Credentials:
        """What to show with a request sent now; a change of the files counts within a second."""
        now = self._clock()
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            # What was not usable may be so now although its files look the same, and may have hidden further files.
            if self._told or self._files.have_changed():
                self._read_again()
        return self._used.credentials

    def renewed(self) -> Credentials:
        """What to show after the server refused what was shown last: all files are read again, and at once."""
        self._read_again()
        return self._used.credentials

    def _read_again(self) -> None:
        self._files = SeenFiles()
        match self._read(self._files).bind(self._replacement):
            case Success(used):
                self._used, self._told = used, ""
            case Failure(problem) if problem != self._told:
                self._told = problem
                self._on_problem(problem)

    def _replacement(self, description: Description) -> Result[_Used, str]:
        """What to use from now on; the same TLS settings as long as they say the same."""
        last, credentials = self._used
        change = change_for_a_restart(last, description)
        if change is not None:
            return Failure(f"{description.source}: {change}, which needs a restart")
        if description.tls == last.tls:
            return Success(_Used(description, Credentials(description.header, credentials.tls)))
        return _used(description)


def _used(description: Description) -> Result[_Used, str]:
    if description.tls is None:
        return Success(_Used(description, Credentials(description.header)))
    return (
        tls_context(description.tls)
        .map(lambda tls: _Used(description, Credentials(description.header, tls)))
        .alt(lambda problem: f"{description.source}: {problem}")
    )
