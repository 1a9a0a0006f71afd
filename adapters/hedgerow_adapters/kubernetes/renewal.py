"""Whether what a connection trusts and shows has changed in its files, and what it uses if they cannot be used.

Clusters renew tokens, certificates and authorities by replacing files, and take the old ones back soon after. What is
half written, broken, or for another server leaves the last usable state in use: a request never fails for it.
"""

import ssl
from collections.abc import Callable
from typing import NamedTuple, Self, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.authorization import Authorization
from hedgerow_adapters.kubernetes.description import Description
from hedgerow_adapters.kubernetes.seen_files import SeenFiles
from hedgerow_adapters.kubernetes.tls import tls_context

Reader: TypeAlias = Callable[[SeenFiles], Result[Description, str]]


class _Used(NamedTuple):
    """A usable description, with what was made from it."""

    description: Description
    authorization: Authorization
    tls: ssl.SSLContext | None


class Renewal:
    """Trust and identity of one connection, made again when the files they come from have changed.

    TLS settings are replaced, never changed: a connection that was made with the last ones is told by them from a new
    one, and an unusable pair harms none. They stay the same object as long as they say the same.
    """

    __slots__ = ("_files", "_on_problem", "_read", "_told", "_used")

    def __init__(self, read: Reader, files: SeenFiles, used: _Used, on_problem: Callable[[str], None]) -> None:
        self._read = read
        self._files = files
        self._used = used
        self._on_problem = on_problem
        self._told = ""

    @classmethod
    def begun(cls, read: Reader, on_problem: Callable[[str], None]) -> Result[Self, str]:
        """The first reading, or why it is not usable.

        Args:
            read: what the files say now.
            on_problem: told, as a sentence, when a later reading is not usable; once as long as it stays the same.
        """
        files = SeenFiles()
        return read(files).bind(_used).map(lambda used: cls(read, files, used, on_problem))

    @property
    def description(self) -> Description:
        """What is in use."""
        return self._used.description

    def header(self) -> str:
        """The Authorization header for a request sent now; empty: send none."""
        return self._now().authorization.header()

    def renewed(self) -> str:
        """The Authorization header after the server refused the last one: all files are read again."""
        self._read_again()
        return self._used.authorization.renewed()

    def tls(self) -> ssl.SSLContext | None:
        """The settings for a request sent now; none for plain HTTP."""
        return self._now().tls

    def _now(self) -> _Used:
        if self._files.have_changed():
            self._read_again()
        return self._used

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
        last = self._used.description
        if description.server_and_trust != last.server_and_trust:
            # All that is known came from the last server: to believe it of another one could delete everything there.
            change = f"it was for {last.server_and_trust} and is for {description.server_and_trust} now"
            return Failure(f"{description.source}: {change}, which needs a restart")
        if description.tls == last.tls:
            return Success(_Used(description, description.authorization(), self._used.tls))
        return _used(description)


def _used(description: Description) -> Result[_Used, str]:
    if description.tls is None:
        return Success(_Used(description, description.authorization(), None))
    return (
        tls_context(description.tls)
        .map(lambda tls: _Used(description, description.authorization(), tls))
        .alt(lambda problem: f"{description.source}: {problem}")
    )
