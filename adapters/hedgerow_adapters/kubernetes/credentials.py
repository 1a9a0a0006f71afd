"""How to reach an API server and as whom: from a kubeconfig, or from inside a cluster.

Clusters renew tokens, certificates and authorities by replacing files, and take the old ones back soon after. What is
half written, broken, or for another server leaves the last usable state in use: a request never fails for it.

Source: managed-resources §4.1, decision A-1.
"""

import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.connection_files import SERVICE_ACCOUNT, KubeconfigFile, SeenFiles, ServiceAccount
from hedgerow_adapters.kubernetes.identity import Description, UnusableError, tls_context

LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the files: one for each request would cost more than all else about credentials."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one request shows the server, and how it knows that server: both of one reading."""

    authorization: str = field(default="", repr=False)
    """The Authorization header; empty: none."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Trust and client certificate; none for plain HTTP."""


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
        """Read the files for the first time.

        Args:
            read: what the files say now; raises UnusableError.
            on_problem: told, as a sentence, when a later reading is not usable; once as long as it stays the same.
            clock: monotonic seconds.

        Raises:
            UnusableError: the first reading is not usable.
        """
        self._read = read
        self._on_problem = on_problem
        self._clock = clock
        self._looked = clock()
        self._problem = ""
        self._files = SeenFiles()
        self.description = read(self._files)
        """What is in use."""
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
    """URL without a slash at its end; may have a path."""
    source: Credentials | Renewal = field(default=Credentials(), repr=False)
    """What to show: always the same, or what files say."""
    server_name: str | None = None
    """The name that the server's certificate is for, where that is not the URL's host."""

    def credentials(self) -> Credentials:
        """What to show with a request sent now."""
        return self.source if isinstance(self.source, Credentials) else self.source.credentials()

    def renewed(self) -> Credentials:
        """What to show after the server refused what was shown last: everything is read again."""
        return self.source if isinstance(self.source, Credentials) else self.source.renewed()


async def load_connection(
    kubeconfig: str | Path = "",
    *,
    context: str = "",
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
    on_unusable: Callable[[str], None] = lambda _problem: None,
    clock: Callable[[], float] = time.monotonic,
) -> Result[Connection, str]:
    """The connection that a kubeconfig describes, or that of the pod that this process runs in.

    It follows its files: what they say of trust, token and client certificate holds within a second, and after a
    refusal at once. A failure is one sentence without credentials.

    Args:
        kubeconfig: the file; empty: in-cluster configuration.
        context: the kubeconfig's context to use; empty: its current one.
        environment: the environment variables, which name the API server in a pod.
        service_account: the folder with the pod's token and certificate authority.
        on_unusable: told once, as a sentence, why files that have changed are not used.
        clock: monotonic seconds.
    """
    source = KubeconfigFile(Path(kubeconfig), context) if kubeconfig else ServiceAccount(environment, service_account)
    try:
        renewal = Renewal(source.read, on_unusable, clock)
    except UnusableError as error:
        return Failure(str(error))
    description = renewal.description
    return Success(Connection(description.server, renewal, description.server_name))
