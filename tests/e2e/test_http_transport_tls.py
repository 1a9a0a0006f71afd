"""Credentials on the wire: certificates, tokens, and what is said when one side does not trust the other."""

import asyncio
import base64
import contextlib
import itertools
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.kubernetes import http_transport
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.credentials import Connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import NotSentError, TransportError
from tests.control_plane import PATIENCE

SERVICES = Resource("", "v1", "services", "Service")
LIST = requests.list_page(SERVICES)
WATCH = requests.watch(SERVICES, resource_version="1", timeout_seconds=60)


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
    """The URL of a server that says whom it sees; to a watch it says nothing."""

    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        if "watch" in request.query:
            silent = web.StreamResponse(headers={"Content-Type": "application/json"})
            await silent.prepare(request)
            await asyncio.Event().wait()
        certificate = request.transport.get_extra_info("peercert") or {}
        names = [value for ((key, value),) in certificate.get("subject", ()) if key == "commonName"]
        return web.json_response([*names, request.headers.get("Authorization")])

    application = web.Application()
    application.router.add_get("/{path:.*}", handler)
    server = TestServer(application)
    await server.start_server(ssl=tls)
    try:
        yield str(server.make_url("")).rstrip("/")
    finally:
        await server.close()


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def pair_of(certificate: Path, key: Path) -> dict[str, str]:
    return {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}


def described(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    """A kubeconfig in the folder, in the place of the one that was there."""
    document = {
        "clusters": [{"name": "garden", "cluster": cluster}],
        "users": [{"name": "operator", "user": user}],
        "contexts": [{"name": "main", "context": {"cluster": "garden", "user": "operator"}}],
        "current-context": "main",
    }
    new = folder / "new"
    new.write_text(yaml.safe_dump(document))
    return new.rename(folder / "kubeconfig")


def every_look_counts() -> Callable[[], float]:
    """A clock by which a second passes between two requests, so that each sees what has changed."""
    return itertools.count().__next__


async def connected(folder: Path, user: dict[str, Any], **cluster: Any) -> Connection:
    return (await load_connection(described(folder, user, **cluster), clock=every_look_counts())).unwrap()


async def seen_by(connection: Connection) -> Any:
    async with HttpTransport(connection) as transport:
        return (await transport.send(LIST)).body


async def refusal_of(connection: Connection) -> str:
    with pytest.raises(TransportError) as caught:
        await seen_by(connection)
    return str(caught.value).replace(connection.server, "SERVER")


async def test_a_client_certificate_in_a_kubeconfig_is_shown(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    certificate, key = certificates.sign("operator", "extendedKeyUsage=clientAuth")
    async with who_am_i(server_tls) as server:
        authority = encoded(certificates.authority)
        connection = await connected(
            tmp_path, pair_of(certificate, key), server=server, **{"certificate-authority-data": authority}
        )

        assert await seen_by(connection) == ["operator", None]


async def test_a_client_certificate_that_was_replaced_is_shown_with_the_next_request_although_connections_are_kept(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    old, new = (certificates.sign(name, "extendedKeyUsage=clientAuth") for name in ("old", "new"))
    trust = {"certificate-authority-data": encoded(certificates.authority)}
    async with who_am_i(server_tls) as server:
        connection = await connected(tmp_path, pair_of(*old), server=server, **trust)
        async with HttpTransport(connection) as transport:
            before = await transport.send(LIST)
            described(tmp_path, pair_of(*new), server=server, **trust)
            after = await transport.send(LIST)

    assert (before.body, after.body) == (["old", None], ["new", None])


async def test_a_client_certificate_without_its_key_leaves_the_last_pair_in_use_until_the_key_comes(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    old, new = (certificates.sign(name, "extendedKeyUsage=clientAuth") for name in ("old", "new"))
    trust = {"certificate-authority-data": encoded(certificates.authority)}
    told: list[str] = []
    seen = []
    async with who_am_i(server_tls) as server:
        kubeconfig = described(tmp_path, pair_of(*old), server=server, **trust)
        connection = (await load_connection(kubeconfig, on_unusable=told.append, clock=every_look_counts())).unwrap()
        for pair in ((new[0], old[1]), new):
            described(tmp_path, pair_of(*pair), server=server, **trust)
            # A transport of its own each time: a new connection.
            seen += [await seen_by(connection), await seen_by(connection)]

    assert seen == [["old", None], ["old", None], ["new", None], ["new", None]]
    assert told == [f"kubeconfig {kubeconfig}: the client certificate and the client key are no matching pair in PEM"]


async def test_a_certificate_authority_that_was_replaced_is_the_only_one_trusted(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    other, authority = tmp_path / "other.crt", tmp_path / "ca.crt"
    openssl("req", "-x509", *NEW_KEY, "-keyout", tmp_path / "ca.key", "-out", other, "-subj", "/CN=other")
    async with who_am_i(server_tls) as server:
        shutil.copy(certificates.authority, authority)
        connection = await connected(tmp_path, {"token": "t"}, server=server, **{"certificate-authority": "ca.crt"})
        async with HttpTransport(connection) as transport:
            await transport.send(LIST)
            other.rename(authority)
            with pytest.raises(TransportError, match="cannot trust"):
                await transport.send(LIST)
            shutil.copy(certificates.authority, authority)
            again = await transport.send(LIST)

    assert again.body == ["Bearer t"]


async def test_an_open_watch_ends_once_its_authority_was_replaced_and_the_next_one_trusts_the_new_one_alone(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_transport, "RENEWAL_CHECKED_EVERY", 0.01)
    other, authority = tmp_path / "other.crt", tmp_path / "ca.crt"
    openssl("req", "-x509", *NEW_KEY, "-keyout", tmp_path / "ca.key", "-out", other, "-subj", "/CN=other")
    shutil.copy(certificates.authority, authority)
    async with who_am_i(server_tls) as server:
        connection = await connected(tmp_path, {"token": "t"}, server=server, **{"certificate-authority": "ca.crt"})
        async with HttpTransport(connection) as transport:
            async with transport.stream(WATCH, timeout=PATIENCE) as stream:
                other.rename(authority)
                events = [event async for event in stream.events]
            with pytest.raises(TransportError, match="cannot trust"):
                async with transport.stream(WATCH, timeout=PATIENCE):
                    pass
            shutil.copy(certificates.authority, authority)
            async with transport.stream(WATCH, timeout=PATIENCE) as again:
                assert (events, again.status) == ([], 200)


async def test_a_pods_api_server_may_have_an_ipv6_address(tmp_path: Path, certificates: Certificates) -> None:
    shutil.copy(certificates.authority, tmp_path)
    (tmp_path / "token").write_text("t")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    connection = (await load_connection(environment=environment, service_account=tmp_path)).unwrap()

    assert connection.server == "https://[fd00::1]:443"


async def test_a_certificate_authority_may_be_a_file_beside_the_kubeconfig(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    shutil.copy(certificates.authority, tmp_path)
    async with who_am_i(server_tls) as server:
        connection = await connected(tmp_path, {"token": "t"}, server=server, **{"certificate-authority": "ca.crt"})

        assert await seen_by(connection) == ["Bearer t"]


async def test_a_pod_uses_its_service_account(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    shutil.copy(certificates.authority, tmp_path)
    (tmp_path / "token").write_text("first\n")
    async with who_am_i(server_tls) as server:
        host, _, port = server.removeprefix("https://").partition(":")
        environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        loaded = await load_connection(environment=environment, service_account=tmp_path, clock=every_look_counts())
        connection = loaded.unwrap()
        async with HttpTransport(connection) as transport:
            first = await transport.send(LIST)
            (tmp_path / "token").write_text("renewed\n")
            second = await transport.send(LIST)

    assert (first.body, second.body) == (["Bearer first"], ["Bearer renewed"])


async def test_the_servers_certificate_may_be_for_another_name_than_its_address(
    tmp_path: Path, certificates: Certificates, server_tls: ssl.SSLContext
) -> None:
    authority = {"certificate-authority-data": encoded(certificates.authority)}
    async with who_am_i(server_tls) as server:
        right = await connected(tmp_path, {}, server=server, **authority, **{"tls-server-name": "api.garden"})
        wrong = await connected(tmp_path, {}, server=server, **authority, **{"tls-server-name": "api.seed"})

        assert await seen_by(right) == [None]
        assert await refusal_of(wrong) == (
            "cannot trust SERVER: Hostname mismatch, certificate is not valid for 'api.seed'."
        )


async def test_a_server_whose_authority_is_unknown_is_not_trusted_unless_told_so(
    tmp_path: Path, server_tls: ssl.SSLContext
) -> None:
    async with who_am_i(server_tls) as server:
        careful = await connected(tmp_path, {"token": "t"}, server=server)
        careless = await connected(tmp_path, {"token": "t"}, server=server, **{"insecure-skip-tls-verify": True})

        assert (await refusal_of(careful)).startswith("cannot trust SERVER: self-signed certificate")
        assert await seen_by(careless) == ["Bearer t"]


async def test_a_server_that_speaks_no_tls_is_one_sentence(tmp_path: Path) -> None:
    async with TestServer(web.Application()) as server:
        connection = await connected(tmp_path, {}, server=f"https://127.0.0.1:{server.port}")

        assert (await refusal_of(connection)).startswith("cannot agree on TLS with SERVER: ")


async def test_a_lease_that_is_lost_while_the_connection_is_made_holds_the_request_back(
    certificates: Certificates, server_tls: ssl.SSLContext, tmp_path: Path
) -> None:
    holds_lease = True

    def lose_the_lease(*_handshake: object) -> None:
        nonlocal holds_lease
        holds_lease = False

    said: list[str] = []
    trust = {"certificate-authority-data": encoded(certificates.authority), "tls-server-name": "api.garden"}
    async with who_am_i(server_tls) as server:
        connection = await connected(tmp_path, {}, server=server, **trust)
        server_tls.sni_callback = lose_the_lease
        try:
            async with HttpTransport(
                connection, on_request=lambda code, _method, _host: said.append(code)
            ) as transport:
                with pytest.raises(NotSentError):
                    await transport.send(LIST, may_send=lambda: holds_lease)
        finally:
            server_tls.sni_callback = None

    assert not holds_lease
    assert said == []


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_connections_that_break_in_their_handshake_close_no_file_of_others(loop: str) -> None:
    command = [sys.executable, "-m", "tests.e2e.broken_handshakes", loop]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)

    assert (ended.returncode, ended.stdout) == (0, "2000 failed, 0 lost\n"), ended.stderr
