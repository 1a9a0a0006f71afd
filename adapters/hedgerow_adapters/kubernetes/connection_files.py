"""The connection that a kubeconfig file, or the service account of a pod, describes.

A reader of our own: the `kubernetes` package's costs more than all the rest of a start, leaves certificates and keys in
temporary files, and does not notice that what it has read has changed.

Source: managed-resources §4.1, decision A-1.
"""

import base64
import binascii
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.credentials import (
    Connection,
    Description,
    Renewal,
    SeenFiles,
    TlsMaterial,
    UnusableError,
)
from hedgerow_adapters.kubernetes.kubeconfig import Fields, Selection, parsed_kubeconfig, selected

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CLUSTER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


class KubeconfigFile:
    """A kubeconfig, of which one context is used: the same one for good, whichever becomes its current one."""

    def __init__(self, path: Path, context: str = "") -> None:
        """Nothing is read yet; without a context it will be the one that is current at the first reading."""
        self._path = path
        self._context = context
        self._token_file: Path | None = None

    def read(self, files: SeenFiles) -> Description:
        """What the file says now; UnusableError says what is wrong, in one sentence without credentials."""
        source = f"kubeconfig {self._path}"
        try:
            selection = selected(parsed_kubeconfig(self._text(files)), self._context)
            self._context = selection.context
            cluster = selection.cluster
            header = self._header(selection, files)
            tls = None if urlsplit(cluster["server"]).scheme == "http" else self._tls(selection, files)
        except UnusableError as error:
            raise UnusableError(f"{source}: {error}") from None
        return Description(source, cluster["server"].rstrip("/"), cluster.get("tls-server-name") or None, header, tls)

    def _text(self, files: SeenFiles) -> str:
        try:
            return files.read(self._path).decode()
        except OSError as error:
            raise UnusableError(f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UnusableError("not a text in UTF-8") from None

    def _beside(self, name: str) -> Path:
        return self._path.absolute().parent / name

    def _header(self, selection: Selection, files: SeenFiles) -> str:
        """The Authorization header: of the token file once that was there, until then what is embedded, if any."""
        name, embedded = selection.user.get("tokenFile"), _embedded_header(selection.user)
        if not name:
            return embedded
        path = self._beside(name)
        try:
            header = _bearer(files.read(path))
        except OSError:
            header = ""
        if header:
            self._token_file = path
        elif path == self._token_file or not embedded:
            raise UnusableError(f'no token can be read from tokenFile {path} of user "{selection.user_name}"')
        return header or embedded

    def _tls(self, selection: Selection, files: SeenFiles) -> TlsMaterial:
        user, whose = selection.user, f'user "{selection.user_name}"'
        authorities = self._authorities(selection, files)
        chain, key = _decoded(user, "client-certificate-data", whose), _decoded(user, "client-key-data", whose)
        is_verified = not selection.cluster.get("insecure-skip-tls-verify")
        return TlsMaterial(authorities, (chain, key) if chain else None, is_verified)

    def _authorities(self, selection: Selection, files: SeenFiles) -> bytes | None:
        cluster = selection.cluster
        if cluster.get("certificate-authority-data"):
            return _decoded(cluster, "certificate-authority-data", f'cluster "{selection.cluster_name}"')
        if not cluster.get("certificate-authority"):
            return None
        path = self._beside(cluster["certificate-authority"])
        try:
            return files.read(path)
        except OSError as error:
            raise UnusableError(f"cannot read certificate authority {path}: {error.strerror}") from None


def _embedded_header(user: Fields) -> str:
    """The Authorization header of what is embedded: a token, or else user name and password, or else none."""
    if user.get("token"):
        return f"Bearer {user['token']}"
    name, password = user.get("username"), user.get("password")
    if name is None or password is None:
        return ""
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


def _bearer(content: bytes) -> str:
    token = content.decode("ascii", errors="replace").strip()
    return f"Bearer {token}" if token and token.isascii() and token.isprintable() else ""


def _decoded(fields: Fields, name: str, whose: str) -> bytes:
    """The bytes of a base64 field, none if it is not there; it may be broken into lines."""
    try:
        return base64.b64decode("".join((fields.get(name) or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableError(f"{name} of {whose} is not base64") from None


class ServiceAccount:
    """The folder with a pod's token and certificate authority, and the variables that name its API server."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder

    def read(self, files: SeenFiles) -> Description:
        """What they say now; UnusableError says what is wrong, in one sentence without credentials."""
        host, port = (self._environment.get(name) for name in CLUSTER_VARIABLES)
        if not host or not port:
            missing = " and ".join(CLUSTER_VARIABLES)
            raise UnusableError(f"no kubeconfig is given, and this is no pod in a cluster: no {missing}")
        source = f"service account in {self._folder}"
        try:
            header = _bearer(_content(self._folder / "token", "token", files))
            if not header:
                raise UnusableError("Service token file holds no token")  # noqa: TRY301 -- gets its opening below
            authorities = _content(self._folder / "ca.crt", "certificate authority", files)
        except UnusableError as error:
            raise UnusableError(f"no kubeconfig is given, and the {source} is not usable: {error}") from None
        server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        return Description(source, server, header=header, tls=TlsMaterial(authorities))


def _content(path: Path, kind: str, files: SeenFiles) -> bytes:
    try:
        content = files.read(path)
    except FileNotFoundError:
        raise UnusableError(f"Service {kind} file does not exist") from None
    except OSError as error:
        raise UnusableError(f"Service {kind} file cannot be read: {error.strerror}") from None
    if not content.strip():
        raise UnusableError(f"Service {kind} file is empty")
    return content


def describe_connection(kubeconfig: str | Path = "", environment: Mapping[str, str] = os.environ) -> Description:
    """What the files of a connection say now; UnusableError as they do."""
    source = KubeconfigFile(Path(kubeconfig)) if kubeconfig else ServiceAccount(environment, SERVICE_ACCOUNT)
    return source.read(SeenFiles())


async def load_connection(
    kubeconfig: str | Path = "",
    *,
    context: str = "",
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
    on_unusable: Callable[[str], None] = lambda _problem: None,
    clock: Callable[[], float] = time.monotonic,
) -> Result[Connection, str]:
    """The connection that a kubeconfig describes, or, without one, that of the pod that this process runs in.

    It follows its files: what they say of trust, token and client certificate holds within a second, and after a
    refusal at once. A failure is one sentence without credentials. `on_unusable` is told once, as a sentence, why files
    that have changed are not used. In a pod, `environment` names the API server, and the folder `service_account` holds
    token and certificate authority.
    """
    source = KubeconfigFile(Path(kubeconfig), context) if kubeconfig else ServiceAccount(environment, service_account)
    try:
        renewal = Renewal(source.read, on_unusable, clock)
    except UnusableError as error:
        return Failure(str(error))
    description = renewal.description
    return Success(Connection(description.server, renewal, description.server_name))
