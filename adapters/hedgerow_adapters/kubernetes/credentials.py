"""Where an API server is, how to trust it, and what to show it: what files say, renewed as these change.

Clusters renew tokens, certificates and authorities by replacing files, and take the old ones back soon after. What is
half written, broken, or for another server leaves the last usable state in use: a request never fails for it. No text
of anything here shows a secret.

Trusts as Go does: any certificate in the bundle is an authority, and those that clusters make for themselves need not
meet the strict profile of RFC 5280 that newer Python versions ask for.

Source: managed-resources §4.1, decision A-1.
"""

import contextlib
import os
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the files: one for each request would cost more than all else about credentials."""


class UnusableError(Exception):
    """Nothing can be connected with it; says why, as a clause without credentials."""


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """What TLS settings are made of."""

    authorities: bytes | None = field(default=None, repr=False)
    """Certificates in PEM; none: those that the system trusts."""
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """The client's certificate chain and its private key, each in PEM; none: show none."""
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Description:
    """The content of a kubeconfig or of a service account; equal ones make equal connections."""

    source: str
    """Which files, for messages."""
    server: str
    """URL without a slash at its end; may have a path."""
    server_name: str | None = None
    """The name that the server's certificate is for, where that is not the URL's host."""
    header: str = field(default="", repr=False)
    """The Authorization header; empty: none."""
    tls: TlsMaterial | None = None
    """Trust and client certificate; none for plain HTTP."""

    @property
    def server_and_trust(self) -> str:
        """Which server it is, under which name, and how it must prove that; a text for messages."""
        name = f" as {self.server_name}" if self.server_name else ""
        pinned = " with a given authority" if self.tls and self.tls.authorities is not None else ""
        unverified = ", unverified" if self.tls and not self.tls.verify else ""
        return f"{self.server}{name}{pinned}{unverified}"

    @property
    def is_anonymous(self) -> bool:
        """Whether it says nothing of who we are."""
        return not self.header and (self.tls is None or self.tls.certificate is None)

    def check_replaces(self, last: "Description") -> None:
        """Raise UnusableError for what a process that runs must not follow."""
        if self.server_and_trust != last.server_and_trust:
            # All that is known came from the last server: to believe it of another one could delete everything there.
            change = f"it was for {last.server_and_trust} and is for {self.server_and_trust} now"
        elif self.is_anonymous and not last.is_anonymous:
            # Rather a file that is half written, and well-formed all the same, than what anybody wants.
            change = "it had credentials and has none now"
        else:
            return
        raise UnusableError(f"{self.source}: {change}, which needs a restart")


def tls_context(material: TlsMaterial) -> ssl.SSLContext:
    """The settings of a connection; UnusableError: its certificates are none, or do not belong together."""
    cadata = None
    if material.authorities is not None:
        # An empty text would come to the authorities that the system trusts.
        cadata = material.authorities.decode("ascii", errors="ignore") or " "
    try:
        context = ssl.create_default_context(cadata=cadata)
    except ssl.SSLError:
        raise UnusableError("the certificate authority is no certificate in PEM") from None
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not material.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if material.certificate is not None:
        chain, key = material.certificate
        try:
            with _in_memory(chain) as chain_file, _in_memory(key) as key_file:
                # Without a password given here OpenSSL would ask for one at the terminal.
                context.load_cert_chain(chain_file, key_file, password="")
        except ssl.SSLError:
            problem = "the client certificate and the client key are no matching pair in PEM"
            raise UnusableError(problem) from None
    return context


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """The path of a file that is on no disk: OpenSSL takes keys from files only, and containers may have no /tmp."""
    with os.fdopen(os.memfd_create("certificate"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


class SeenFiles:
    """The files that something is read from, as they were just before; missing ones, too, which may appear."""

    __slots__ = ("_states",)

    def __init__(self) -> None:
        self._states: dict[Path, tuple[int, int, int] | None] = {}

    def read(self, path: Path) -> bytes:
        """The content of a file, which counts as seen even if reading it raises an OSError."""
        self._states[path] = _state_of(path)
        return path.read_bytes()

    def have_changed(self) -> bool:
        """Whether reading again could come to something else; one look at the state of each file."""
        return any(_state_of(path) != state for path, state in self._states.items())


def _state_of(path: Path) -> tuple[int, int, int] | None:
    """What tells one content of a file from another, without reading it; none if there is no such file."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one request shows the server, and how it knows that server: both of one reading."""

    authorization: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)


class Renewal:
    """Trust and identity of one connection, made again when the files they come from have changed.

    TLS settings are replaced, never changed: a connection that was made with the last ones is told by them from a new
    one, and an unusable pair harms none. They stay the same object as long as they say the same.
    """

    def __init__(
        self,
        read: Callable[[SeenFiles], Description],
        on_problem: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read the files for the first time; raises UnusableError, as `read` does.

        `on_problem` is told once, as a sentence, why a later reading is not usable; `clock` tells monotonic seconds.
        """
        self._read = read
        self._on_problem = on_problem
        self._clock = clock
        self._looked = clock()
        self._problem = ""
        self._files = SeenFiles()
        self.description = read(self._files)
        self._credentials = _credentials(self.description)

    def credentials(self) -> Credentials:
        """What to show with a request sent now; a change of the files counts within a second."""
        now = self._clock()
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            # What was not usable may be so now although its files look the same, and may have hidden further files.
            if self._problem or self._files.have_changed():
                self.renewed()
        return self._credentials

    def renewed(self) -> Credentials:
        """What to show after the server refused what was shown last: all files are read again, and at once."""
        self._files = SeenFiles()
        try:
            self._use(self._read(self._files))
        except UnusableError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                self._on_problem(self._problem)
        return self._credentials

    def _use(self, description: Description) -> None:
        description.check_replaces(self.description)
        is_same = description.tls == self.description.tls
        same = Credentials(description.header, self._credentials.tls) if is_same else _credentials(description)
        self.description, self._credentials, self._problem = description, same, ""


def _credentials(description: Description) -> Credentials:
    try:
        return Credentials(description.header, tls_context(description.tls) if description.tls else None)
    except UnusableError as error:
        raise UnusableError(f"{description.source}: {error}") from None


@dataclass(frozen=True, slots=True)
class Connection:
    """Where an API server is, how to trust it, and who we are to it. No text of it shows a credential."""

    server: str
    source: Credentials | Renewal = field(default=Credentials(), repr=False)
    """What to show: always the same, or what files say."""
    server_name: str | None = None

    def credentials(self) -> Credentials:
        """What to show with a request sent now."""
        return self.source if isinstance(self.source, Credentials) else self.source.credentials()

    def renewed(self) -> Credentials:
        """What to show after the server refused what was shown last: everything is read again."""
        return self.source if isinstance(self.source, Credentials) else self.source.renewed()
