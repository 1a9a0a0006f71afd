"""How to reach an API server and as whom: from a kubeconfig, or from inside a cluster.

The files are read and checked here; what a context or a pod's environment then means comes from the `kubernetes`
package. That is imported on first use, as it takes as long as the rest of a start, and gets neither certificates nor
keys, which it would leave in temporary files.

Source: managed-resources §4.1, decision A-1.
"""

import base64
import binascii
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from returns.iterables import Fold
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.authorization import Authorization, FixedAuthorization, TokenFile
from hedgerow_adapters.kubernetes.kubeconfig import Selection, parsed_kubeconfig, selected
from hedgerow_adapters.kubernetes.tls import tls_context

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CLUSTER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where an API server is, how to trust it, and who we are to it. No text of it shows a credential."""

    server: str
    """URL without a slash at its end; may have a path."""
    authorization: Authorization = field(default_factory=FixedAuthorization, repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Trust and client certificate; none for plain HTTP."""
    server_name: str | None = None
    """The name that the server's certificate is for, where that is not the URL's host."""


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
) -> Result[Connection, ConnectionFailure]:
    """The connection that a kubeconfig describes, or that of the pod that this process runs in.

    Args:
        kubeconfig: the file; empty: in-cluster configuration.
        context: the kubeconfig's context to use; empty: its current one.
        environment: the environment variables, which name the API server in a pod.
        service_account: the folder with the pod's token and certificate authority.
    """
    if not kubeconfig:
        return _in_cluster(environment, service_account).alt(ConnectionFailure)
    path = Path(kubeconfig)
    selection = _read(path).bind(parsed_kubeconfig).bind(lambda document: selected(document, context))
    if not is_successful(selection):
        return Failure(ConnectionFailure(f"kubeconfig {path}: {selection.failure()}"))
    connection = await _connection(selection.unwrap(), path)
    return connection.alt(lambda problem: ConnectionFailure(f"kubeconfig {path}: {problem}"))


def _read(path: Path) -> Result[str, str]:
    try:
        return Success(path.read_text(encoding="utf-8"))
    except OSError as error:
        return Failure(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return Failure("not a text in UTF-8")


async def _connection(selection: Selection, kubeconfig: Path) -> Result[Connection, str]:
    """What a selection describes; relative paths in it start at the folder of the kubeconfig."""
    from kubernetes.aio.client import Configuration  # noqa: PLC0415 -- slow to import
    from kubernetes.aio.config import load_kube_config_from_dict  # noqa: PLC0415 -- slow to import

    configuration: Any = Configuration()
    load: Any = load_kube_config_from_dict
    await load(_without_files(selection), client_configuration=configuration)
    header = configuration.api_key.get("BearerToken", "")
    return _authorization(selection, kubeconfig, header).bind(
        lambda authorization: _tls(selection, kubeconfig, verify=configuration.verify_ssl).map(
            lambda tls: Connection(configuration.host, authorization, tls, configuration.tls_server_name)
        )
    )


def _without_files(selection: Selection) -> dict[str, Any]:
    """A kubeconfig of the selection alone, without what is, or would become, a file."""
    cluster = {name: value for name, value in selection.cluster.items() if not name.startswith("certificate-authority")}
    user = {name: value for name, value in selection.user.items() if name in {"token", "username", "password"}}
    return {
        "current-context": "selected",
        "contexts": [{"name": "selected", "context": {"cluster": "selected", "user": "selected"}}],
        "clusters": [{"name": "selected", "cluster": cluster}],
        "users": [{"name": "selected", "user": user}],
    }


def _authorization(selection: Selection, kubeconfig: Path, header: str) -> Result[Authorization, str]:
    """The user's token file if there is one; the header, made from what is embedded, is used until it can be read."""
    name = selection.user.get("tokenFile")
    if not name:
        return Success(FixedAuthorization(header))
    path = _beside(kubeconfig, name)
    token_file = TokenFile(path, header)
    if not token_file.header():
        return Failure(f'no token can be read from tokenFile {path} of user "{selection.user_name}"')
    return Success(token_file)


def _tls(selection: Selection, kubeconfig: Path, *, verify: bool) -> Result[ssl.SSLContext | None, str]:
    if selection.cluster["server"].startswith("http:"):
        return Success(None)
    authorities = _decoded(selection.cluster, "certificate-authority-data", f'cluster "{selection.cluster_name}"')
    chain, key = (
        _decoded(selection.user, name, f'user "{selection.user_name}"')
        for name in ("client-certificate-data", "client-key-data")
    )
    file = selection.cluster.get("certificate-authority")
    return Fold.collect((authorities, chain, key), Success(())).bind(
        lambda pem: tls_context(
            authorities=pem[0] or (_beside(kubeconfig, file) if file else None),
            certificate=(pem[1], pem[2]) if pem[1] else None,
            verify=verify,
        )
    )


def _beside(kubeconfig: Path, name: str) -> Path:
    return kubeconfig.absolute().parent / name


def _decoded(fields: Mapping[str, Any], name: str, whose: str) -> Result[bytes, str]:
    """The bytes of a base64 field, none if it is not there; it may be broken into lines."""
    try:
        return Success(base64.b64decode("".join((fields.get(name) or "").split()), validate=True))
    except (binascii.Error, ValueError):
        return Failure(f"{name} of {whose} is not base64")


def _in_cluster(environment: Mapping[str, str], service_account: Path) -> Result[Connection, str]:
    """The connection of a pod: variables name the server, a folder holds token and certificate authority."""
    if not all(environment.get(name) for name in CLUSTER_VARIABLES):
        return Failure(f"no kubeconfig is given, and this is no pod in a cluster: no {' and '.join(CLUSTER_VARIABLES)}")
    from kubernetes.aio.client import Configuration  # noqa: PLC0415 -- slow to import
    from kubernetes.aio.config import ConfigException  # noqa: PLC0415 -- slow to import
    from kubernetes.aio.config.incluster_config import InClusterConfigLoader  # noqa: PLC0415 -- slow to import

    configuration: Any = Configuration()
    new_loader: Any = InClusterConfigLoader
    token, authorities = service_account / "token", service_account / "ca.crt"
    try:
        new_loader(str(token), str(authorities), environ=environment).load_and_set(configuration)
    except (ConfigException, OSError, UnicodeDecodeError) as error:
        problem = str(error).rstrip(".")
        return Failure(f"no kubeconfig is given, and the service account in {service_account} is not usable: {problem}")
    return tls_context(authorities=Path(configuration.ssl_ca_cert), certificate=None, verify=True).map(
        lambda tls: Connection(configuration.host, TokenFile(token), tls)
    )
