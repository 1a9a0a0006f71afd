"""How to reach an API server and as whom: from a kubeconfig, or from inside a cluster.

Source: managed-resources §4.1, decision A-1.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from returns.result import Result

from hedgerow_adapters.kubernetes.connection_files import SERVICE_ACCOUNT, KubeconfigFile, ServiceAccount
from hedgerow_adapters.kubernetes.identity import Credentials
from hedgerow_adapters.kubernetes.renewal import Renewal


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


@dataclass(frozen=True, slots=True)
class ConnectionFailure:
    """Why there is no connection, as one sentence without credentials."""

    sentence: str

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence


async def load_connection(
    kubeconfig: str | Path = "",
    *,
    context: str = "",
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
    on_unusable: Callable[[str], None] = lambda _problem: None,
    clock: Callable[[], float] = time.monotonic,
) -> Result[Connection, ConnectionFailure]:
    """The connection that a kubeconfig describes, or that of the pod that this process runs in.

    It follows its files: what they say of trust, token and client certificate holds within a second, and after a
    refusal at once.

    Args:
        kubeconfig: the file; empty: in-cluster configuration.
        context: the kubeconfig's context to use; empty: its current one.
        environment: the environment variables, which name the API server in a pod.
        service_account: the folder with the pod's token and certificate authority.
        on_unusable: told once, as a sentence, why files that have changed are not used.
        clock: monotonic seconds.
    """
    source = KubeconfigFile(Path(kubeconfig), context) if kubeconfig else ServiceAccount(environment, service_account)
    return Renewal.begun(source.read, on_unusable, clock).map(_connection).alt(ConnectionFailure)


def _connection(renewal: Renewal) -> Connection:
    description = renewal.description
    return Connection(description.server, renewal, description.server_name)
