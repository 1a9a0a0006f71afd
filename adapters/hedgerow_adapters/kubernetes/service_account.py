"""What the environment and the service account of a pod say about a connection to its cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.description import Description
from hedgerow_adapters.kubernetes.identity import bearer
from hedgerow_adapters.kubernetes.seen_files import SeenFiles
from hedgerow_adapters.kubernetes.tls import TlsMaterial

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CLUSTER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


class ServiceAccount:
    """The folder with a pod's token and certificate authority, and the variables that name its API server."""

    __slots__ = ("_environment", "_folder", "_source")

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        """Nothing is read yet."""
        self._environment = environment
        self._folder = folder
        self._source = f"service account in {folder}"

    def read(self, files: SeenFiles) -> Result[Description, str]:
        """What they say now, or what is wrong with them, as one sentence without credentials."""
        host, port = (self._environment.get(name) for name in CLUSTER_VARIABLES)
        if not host or not port:
            missing = " and ".join(CLUSTER_VARIABLES)
            return Failure(f"no kubeconfig is given, and this is no pod in a cluster: no {missing}")
        return self._described(host, port, files).alt(
            lambda problem: f"no kubeconfig is given, and the {self._source} is not usable: {problem}"
        )

    def _described(self, host: str, port: str, files: SeenFiles) -> Result[Description, str]:
        token, authorities = self._folder / "token", self._folder / "ca.crt"
        server = f"https://{_bracketed(host)}:{port}"
        return _token(token, files).bind(
            lambda header: _content(authorities, "certificate authority", files).map(
                lambda pem: Description(self._source, server, header=header, tls=TlsMaterial(authorities=pem))
            )
        )


def _bracketed(host: str) -> str:
    """A host as it stands in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _token(path: Path, files: SeenFiles) -> Result[str, str]:
    """The Authorization header."""
    return _content(path, "token", files).bind(
        lambda content: Success(header) if (header := bearer(content)) else Failure("Service token file holds no token")
    )


def _content(path: Path, what: str, files: SeenFiles) -> Result[bytes, str]:
    try:
        content = files.read(path)
    except FileNotFoundError:
        return Failure(f"Service {what} file does not exist")
    except OSError as error:
        return Failure(f"Service {what} file cannot be read: {error.strerror}")
    return Success(content) if content.strip() else Failure(f"Service {what} file is empty")
