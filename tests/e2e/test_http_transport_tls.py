"""Credentials on the wire: certificates, tokens, and what is said when one side does not trust the other."""

import base64
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.kubernetes.credentials import Connection, load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import TransportError

LIST = requests.list_page(Resource("", "v1", "services", "Service"))


@dataclass(frozen=True)
class Certificates:
    """An authority, and certificates that it signed, in one folder."""

    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "ca.crt"

    def sign(self, name: str, extensions: str) -> tuple[Path, Path]:
        """A certificate and its key."""
        certificate, key, request = (self.folder / f"{name}.{suffix}" for suffix in ("crt", "key", "csr"))
        extension_file = self.folder / f"{name}.ext"
        extension_file.write_text(extensions)
        openssl("req", *NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", request, "-out", certificate, "-extfile", extension_file, *self._signed())
        return certificate, key

    def _signed(self) -> list[str | Path]:
        return ["-days", "2", "-CA", self.authority, "-CAkey", self.folder / "ca.key", "-CAcreateserial"]


NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command, which makes the certificates")
    folder = tmp_path_factory.mktemp("certificates")
    openssl("req", "-x509", *NEW_KEY, "-keyout", folder / "ca.key", "-out", folder / "ca.crt", "-subj", "/CN=ca")
    return Certificates(folder)


@pytest.fixture(scope="module")
def server_tls(certificates: Certificates) -> ssl.SSLContext:
    """A server for `api.garden` and 127.0.0.1 that looks at client certificates if it is shown any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificates.sign("server", "subjectAltName=DNS:api.garden,IP:127.0.0.1"))
    context.load_verify_locations(certificates.authority)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


@contextlib.asynccontextmanager
async def who_am_i(tls: ssl.SSLContext) -> AsyncIterator[str]:
    """The URL of a server that says whom it sees."""

    async def handler(request: web.Request) -> web.Response:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert") or {}
        names = [value for ((key, value),) in certificate.get("subject", ()) if key == "commonName"]
        return web.json_response([*names, request.headers.get("Authorization")])

    application = web.Application()
    application.router.add_get("/{path:.*}", handler)
    async with TestServer(application, scheme="https") as server:
        yield str(server.make_url("")).rstrip("/")


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


async def connected(folder: Path, user: dict[str, Any], **cluster: Any) -> Connection:
    document = {
        "clusters": [{"name": "garden", "cluster": cluster}],
        "users": [{"name": "operator", "user": user}],
        "contexts": [{"name": "main", "context": {"cluster": "garden", "user": "operator"}}],
        "current-context": "main",
    }
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    return (await load_connection(kubeconfig)).unwrap()


async def seen_by(connection: Connection) -> Any:
    async with HttpTransport(connection) as transport:
        return (await transport.send(LIST)).body


async def refusal_of(connection: Connection) -> str:
    with pytest.raises(TransportError) as caught:
        await seen_by(connection)
    return str(caught.value).replace(connection.server, "SERVER")
