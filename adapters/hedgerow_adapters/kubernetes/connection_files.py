"""What a kubeconfig file, or the service account of a pod, says about a connection, and whether that has changed.

A reader of our own: the `kubernetes` package's costs more than all the rest of a start, leaves certificates and keys in
temporary files, and does not notice that what it has read has changed.

Source: managed-resources §4.1, decision A-1.
"""

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from returns.iterables import Fold
from returns.result import Failure, Result, Success

from hedgerow_adapters.kubernetes.identity import Description, bearer
from hedgerow_adapters.kubernetes.kubeconfig import Fields, Selection, parsed_kubeconfig, selected
from hedgerow_adapters.kubernetes.tls import TlsMaterial

_State: TypeAlias = tuple[int, int, int]


class SeenFiles:
    """The files that something is read from, as they were just before they were read.

    Those that are missing belong to them: when one appears, that is a change.
    """

    __slots__ = ("_states",)

    def __init__(self) -> None:
        self._states: dict[Path, _State | None] = {}

    def read(self, path: Path) -> bytes:
        """The content of a file, which counts as seen even if it cannot be read.

        Raises:
            OSError: it cannot be read.
        """
        self._states[path] = _state_of(path)
        return path.read_bytes()

    def have_changed(self) -> bool:
        """Whether reading again could come to something else; one look at the state of each file."""
        return any(_state_of(path) != state for path, state in self._states.items())


def _state_of(path: Path) -> _State | None:
    """What tells one content of a file from another, without reading it; none if there is no such file."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size


class KubeconfigFile:
    """A kubeconfig, of which one context is used: the same one for good, whichever becomes its current one."""

    __slots__ = ("_context", "_path", "_source", "_token_file")

    def __init__(self, path: Path, context: str = "") -> None:
        """Nothing is read yet; without a context it will be the one that is current at the first reading."""
        self._path = path
        self._source = f"kubeconfig {path}"
        self._context = context
        self._token_file: Path | None = None

    def read(self, files: SeenFiles) -> Result[Description, str]:
        """What the file says now, or what is wrong with it, as one sentence without credentials."""
        return (
            _text(self._path, files)
            .bind(parsed_kubeconfig)
            .bind(lambda document: selected(document, self._context))
            .bind(lambda selection: self._described(selection, files))
            .alt(lambda problem: f"{self._source}: {problem}")
        )

    def _described(self, selection: Selection, files: SeenFiles) -> Result[Description, str]:
        """What a selection says; relative paths in it start at the folder of the kubeconfig."""
        self._context = selection.context
        folder = self._path.absolute().parent
        return self._header(selection, folder, files).bind(
            lambda header: _tls(selection, folder, files).map(
                lambda tls: Description(
                    source=self._source,
                    server=selection.cluster["server"].rstrip("/"),
                    server_name=selection.cluster.get("tls-server-name") or None,
                    header=header,
                    tls=tls,
                )
            )
        )

    def _header(self, selection: Selection, folder: Path, files: SeenFiles) -> Result[str, str]:
        """The Authorization header: of the token file if the user has one, or else of what is embedded."""
        name, embedded = selection.user.get("tokenFile"), _embedded_header(selection.user)
        if not name:
            return Success(embedded)
        path = folder / name
        header = _token_in(path, files)
        if header:
            self._token_file = path
        elif path == self._token_file or not embedded:
            return Failure(f'no token can be read from tokenFile {path} of user "{selection.user_name}"')
        # What is embedded is used until the file is there for the first time, and never again.
        return Success(header or embedded)


def _text(path: Path, files: SeenFiles) -> Result[str, str]:
    try:
        return Success(files.read(path).decode())
    except OSError as error:
        return Failure(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return Failure("not a text in UTF-8")


def _embedded_header(user: Fields) -> str:
    """The Authorization header of what is embedded: a token, or else user name and password, or else none."""
    if user.get("token"):
        return f"Bearer {user['token']}"
    name, password = user.get("username"), user.get("password")
    if name is None or password is None:
        return ""
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


def _token_in(path: Path, files: SeenFiles) -> str:
    """The Authorization header for the token in a file; empty: it cannot be read, or holds none."""
    try:
        return bearer(files.read(path))
    except OSError:
        return ""


def _tls(selection: Selection, folder: Path, files: SeenFiles) -> Result[TlsMaterial | None, str]:
    if urlsplit(selection.cluster["server"]).scheme == "http":
        return Success(None)
    chain, key = (
        _decoded(selection.user, name, f'user "{selection.user_name}"')
        for name in ("client-certificate-data", "client-key-data")
    )
    return _authorities(selection, folder, files).bind(
        lambda authorities: Fold.collect((chain, key), Success(())).map(
            lambda pair: TlsMaterial(
                authorities=authorities,
                certificate=(pair[0], pair[1]) if pair[0] else None,
                verify=not selection.cluster.get("insecure-skip-tls-verify"),
            )
        )
    )


def _authorities(selection: Selection, folder: Path, files: SeenFiles) -> Result[bytes | None, str]:
    """The certificates to trust: embedded, or else in a file; none: those that the system trusts."""
    cluster = selection.cluster
    if cluster.get("certificate-authority-data"):
        return _decoded(cluster, "certificate-authority-data", f'cluster "{selection.cluster_name}"')
    if not cluster.get("certificate-authority"):
        return Success(None)
    path = folder / cluster["certificate-authority"]
    try:
        return Success(files.read(path))
    except OSError as error:
        return Failure(f"cannot read certificate authority {path}: {error.strerror}")


def _decoded(fields: Fields, name: str, whose: str) -> Result[bytes, str]:
    """The bytes of a base64 field, none if it is not there; it may be broken into lines."""
    try:
        return Success(base64.b64decode("".join((fields.get(name) or "").split()), validate=True))
    except (binascii.Error, ValueError):
        return Failure(f"{name} of {whose} is not base64")


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
