"""A serving certificate is replaced while the server works, and nobody notices."""

import asyncio
import shutil
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hedgerow.admission.certificates import (
    Issue,
    certificate_authority,
    certificate_pem,
    key_pem,
    serving_certificate,
)
from hedgerow_adapters.admission.certificates import CertificateError, Certificates
from hedgerow_adapters.telemetry.handshakes import HandshakeFailure, handshake_failure
from hedgerow_entrypoints.cli.webhooks import generate_key
from tests.e2e.admission_server.clients import (
    Client,
    Heard,
    Running,
    admission_server,
    anybody,
    document,
    issue,
    swap,
    until,
)

NO_PAIR = "tls.crt and tls.key in {folder} are no certificate and key in PEM"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue(tmp_path_factory.mktemp("first"), "first")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue(tmp_path_factory.mktemp("second"), "second")


@pytest.fixture
def mismatched(first: Path, second: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "mismatched"
    folder.mkdir()
    shutil.copy(first / "tls.crt", folder)
    shutil.copy(second / "tls.key", folder)
    return folder


async def shown_by(running: Running) -> bytes | None:
    """The certificate that a new connection is shown."""
    async with Client.of(running.port) as client:
        shown: bytes | None = client.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return shown


def certificate_in(folder: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert((folder / "tls.crt").read_text())


@asynccontextmanager
async def under_load(running: Running, trusted: ssl.SSLContext, counted: list[int]) -> AsyncIterator[None]:
    """Clients that ask all the time: on one connection, and on a new one for each review. A failure ends the test."""

    async def ask_on_new_ones() -> None:
        while True:
            async with Client.of(running.port, trusted) as client:
                assert (await client.ask(document()))[0] == 200
            counted[0] += 1

    async def ask_on_one() -> None:
        async with Client.of(running.port, trusted) as client:
            while True:
                assert (await client.ask(document()))[0] == 200
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(ask()) for ask in (ask_on_new_ones, ask_on_new_ones, ask_on_one)]
        yield
        for task in asking:
            task.cancel()


async def test_no_request_fails_while_pairs_good_and_bad_come_and_go(
    first: Path, second: Path, mismatched: Path, tmp_path: Path
) -> None:
    mount, empty = tmp_path / "mount", tmp_path / "empty"
    empty.mkdir()
    swap(mount, first)
    trusted = ssl.create_default_context(cadata="".join((each / "tls.crt").read_text() for each in (first, second)))
    counted = [0]

    async with admission_server(mount) as running, under_load(running, trusted, counted):
        for content in [second, mismatched, first, empty] * 6:
            heard = running.heard
            heard.certificate_news.clear()
            asked = counted[0]
            swap(mount, content)
            async with asyncio.timeout(10):
                await heard.certificate_news.wait()
            await until(lambda asked=asked: counted[0] > asked + 3)  # type: ignore[misc]  # bound in each round
        assert running.heard.handshakes_failed == 0
        assert await shown_by(running) == certificate_in(first)

    assert running.heard.certificates == 1 + 12
    assert len(running.heard.certificate_problems) == 12


async def test_a_bad_pair_is_told_once_and_the_one_before_stays(first: Path, mismatched: Path, tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    swap(mount, first)
    async with admission_server(mount) as running:
        swap(mount, mismatched)
        await until(lambda: len(running.heard.certificate_problems) > 0)
        await asyncio.sleep(0.1)
        assert running.heard.certificate_problems == [f"tls.crt and tls.key in {mount} do not belong together"]
        assert await shown_by(running) == certificate_in(first)


async def test_files_may_be_written_in_place_one_after_the_other(first: Path, second: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(first, tmp_path / "plain")
    async with admission_server(folder) as running:
        shutil.copy(second / "tls.crt", folder)
        await until(lambda: len(running.heard.certificate_problems) == 1)
        shutil.copy(second / "tls.key", folder)
        await until(lambda: running.heard.certificates == 2)
        assert await shown_by(running) == certificate_in(second)


async def test_a_connection_keeps_working_when_its_certificate_is_replaced(
    first: Path, second: Path, tmp_path: Path
) -> None:
    mount = tmp_path / "mount"
    swap(mount, first)
    async with admission_server(mount) as running, Client.of(running.port, anybody()) as client:
        assert (await client.ask(document()))[0] == 200
        swap(mount, second)
        await until(lambda: running.heard.certificates == 2)
        assert (await client.ask(document()))[0] == 200


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (None, "cannot read {folder}/tls.key: no such file or directory"),
        ("", NO_PAIR),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n", NO_PAIR),
    ],
    ids=["missing", "empty", "locked"],
)
def test_without_a_pair_there_is_no_server(first: Path, tmp_path: Path, key: str | None, problem: str) -> None:
    shutil.copy(first / "tls.crt", tmp_path)
    if key is not None:
        (tmp_path / "tls.key").write_text(key)

    with pytest.raises(CertificateError) as refused:
        Certificates(tmp_path, Heard())

    assert str(refused.value) == problem.format(folder=tmp_path)


async def test_one_that_expires_while_it_is_used_fails_readiness(tmp_path: Path) -> None:
    expiry = datetime.now(UTC) + timedelta(seconds=3)
    write_pair(tmp_path, expiry - timedelta(days=1), expiry)
    async with admission_server(tmp_path) as running:
        await until(lambda: running.heard.is_expired)

        assert await running.server.check() == f"the serving certificate has expired at {expiry:%Y-%m-%dT%H:%M:%SZ}"
        async with Client.of(running.port, anybody()) as client:
            assert (await client.ask(document()))[0] == 200


def write_pair(folder: Path, not_before: datetime, not_after: datetime) -> None:
    """A pair that was valid at some time."""
    key, own = generate_key(), generate_key()
    issue = Issue(7, not_before, not_after)
    authority = certificate_authority(key, issue)
    serving = serving_certificate("server", "garden", own.public_key(), authority, issue)
    (folder / "tls.crt").write_bytes(certificate_pem(serving))
    (folder / "tls.key").write_bytes(key_pem(own))


async def no_tls(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await reader.read()
    writer.close()


async def distrustful(port: int) -> None:
    """A client that says why it ends the handshake; asyncio's own would only close the connection."""

    def connect() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            ssl.create_default_context().wrap_socket(connection, server_hostname="127.0.0.1")

    with pytest.raises(ssl.SSLCertVerificationError):
        await asyncio.to_thread(connect)


async def outdated(port: int) -> None:
    context = anybody()
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-SHA256")  # not among those with which this certificate can be used
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await Client.of(port, context).__aenter__()


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        (distrustful, HandshakeFailure.UNTRUSTED_CERTIFICATE),
        (no_tls, HandshakeFailure.PROTOCOL),
        (outdated, HandshakeFailure.PROTOCOL),
    ],
)
async def test_a_handshake_that_fails_has_a_reason(
    first: Path, fail: Callable[[int], Awaitable[None]], reason: HandshakeFailure
) -> None:
    async with admission_server(first) as running:
        await fail(running.port)
        await until(lambda: running.heard.handshakes_failed == 1)

        (problem,) = running.heard.handshake_problems
        assert handshake_failure(problem) is reason, problem
