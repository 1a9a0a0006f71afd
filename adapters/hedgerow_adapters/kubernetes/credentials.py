"""How to reach an API server and as whom: from a kubeconfig, or from inside a cluster.

Source: managed-resources §4.1, decision A-1.
"""

import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from returns.result import Result

from hedgerow_adapters.kubernetes.authorization import Authorization, FixedAuthorization
from hedgerow_adapters.kubernetes.kubeconfig_file import KubeconfigFile
from hedgerow_adapters.kubernetes.renewal import Renewal
from hedgerow_adapters.kubernetes.service_account import SERVICE_ACCOUNT, ServiceAccount


@dataclass(frozen=True, slots=True)
class Shown:
    """What one request shows the server, and how it knows that server. No text of it shows a credential."""

    authorization: str = field(repr=False)
    """The Authorization header; empty: none."""
    tls: ssl.SSLContext | None = field(repr=False)
    """Trust and client certificate; none for plain HTTP."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where an API server is, how to trust it, and who we are to it. No text of it shows a credential."""

    server: str
    """URL without a slash at its end; may have a path."""
    authorization: Authorization = field(default_factory=FixedAuthorization, repr=False)
    tls: Callable[[], ssl.SSLContext | None] = field(default=lambda: None, repr=False)
    """The TLS settings of a request sent now: another object where trust or client certificate are others."""
    server_name: str | None = None
    """The name that the server's certificate is for, where that is not the URL's host."""

    def shown(self) -> Shown:
        """What to show with a request sent now."""
        return Shown(self.authorization.header(), self.tls())

    def renewed(self) -> Shown:
        """What to show after the server refused what was shown last: everything is read again."""
        return Shown(self.authorization.renewed(), self.tls())


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
) -> Result[Connection, ConnectionFailure]:
    """The connection that a kubeconfig describes, or that of the pod that this process runs in.

    It follows its files: what they say of trust, token and client certificate holds for the next request.

    Args:
        kubeconfig: the file; empty: in-cluster configuration.
        context: the kubeconfig's context to use; empty: its current one.
        environment: the environment variables, which name the API server in a pod.
        service_account: the folder with the pod's token and certificate authority.
        on_unusable: told once, as a sentence, why files that have changed are not used.
    """
    source = KubeconfigFile(Path(kubeconfig), context) if kubeconfig else ServiceAccount(environment, service_account)
    return Renewal.begun(source.read, on_unusable).map(_connection).alt(ConnectionFailure)


def _connection(renewal: Renewal) -> Connection:
    description = renewal.description
    return Connection(description.server, renewal, renewal.tls, description.server_name)
