"""Where the server has authorities for clients, it answers those that they vouch for, and no others."""

import asyncio
import shutil
import ssl
from pathlib import Path

import pytest

from hedgerow_adapters.admission.certificates import CertificateError, Certificates
from tests.e2e.admission_server.clients import (
    Client,
    Heard,
    admission_server,
    anybody,
    document,
    issue,
    known_by,
    until,
)

VERSIONS = pytest.mark.parametrize(
    "newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda each: each.name
)
REFUSED = (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError)


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a client certificate that is its own authority."""
    return issue(tmp_path_factory.mktemp("api-server"), "api-server")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue(tmp_path_factory.mktemp("other"), "other")


@VERSIONS
async def test_a_client_that_an_authority_vouches_for_is_answered(
    pair: Path, api_server: Path, newest: ssl.TLSVersion
) -> None:
    async with admission_server(pair, client_authorities=api_server / "tls.crt") as running:
        async with Client.of(running.port, known_by(api_server, newest=newest)) as client:
            assert (await client.ask(document()))[0] == 200

        assert running.heard.handshakes_failed == 0


@VERSIONS
async def test_a_client_without_a_certificate_is_refused_before_its_request_is_read(
    pair: Path, api_server: Path, newest: ssl.TLSVersion
) -> None:
    async with admission_server(pair, client_authorities=api_server / "tls.crt") as running:
        async with Client.of(running.port, anybody(newest=newest)) as client:
            await client.send(b"no HTTP, and no line break either")

            assert await client.response() == (401, b"client certificate required\r\n")
            assert await client.is_closed()

        assert (running.heard.handshakes_failed, running.heard.problems, running.heard.begun) == (1, [], 0)


@VERSIONS
async def test_a_client_with_the_certificate_of_another_authority_is_refused(
    pair: Path, api_server: Path, other: Path, newest: ssl.TLSVersion
) -> None:
    async with admission_server(pair, client_authorities=api_server / "tls.crt") as running:
        with pytest.raises(REFUSED):
            async with Client.of(running.port, known_by(other, newest=newest)) as client:
                await client.ask(document())

        await until(lambda: running.heard.handshakes_failed == 1)
        assert running.heard.begun == 0


async def test_the_server_still_finds_that_it_can_be_reached(pair: Path, api_server: Path) -> None:
    async with admission_server(pair, client_authorities=api_server / "tls.crt") as running:
        assert await running.server.check() is None
        assert running.heard.handshakes_failed == 0


async def test_authorities_that_change_count_for_new_connections(
    pair: Path, api_server: Path, other: Path, tmp_path: Path
) -> None:
    authorities = tmp_path / "client-ca.crt"
    shutil.copy(api_server / "tls.crt", authorities)
    async with admission_server(pair, client_authorities=authorities) as running:
        async with Client.of(running.port, known_by(api_server)) as before:
            assert (await before.ask(document()))[0] == 200

        authorities.write_text("-----BEGIN", encoding="ascii")
        await until(lambda: running.heard.certificate_problems != [])
        async with Client.of(running.port, known_by(api_server)) as meanwhile:
            assert (await meanwhile.ask(document()))[0] == 200

        shutil.copy(other / "tls.crt", authorities)
        await until(lambda: running.heard.certificates == 2)
        async with Client.of(running.port, known_by(other)) as after:
            assert (await after.ask(document()))[0] == 200
        with pytest.raises(REFUSED):
            async with Client.of(running.port, known_by(api_server)) as late:
                await late.ask(document())


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot read {file}: no such file or directory"), ("", "{file} holds no certificate in PEM")],
    ids=["missing", "empty"],
)
def test_without_an_authority_there_is_no_server(pair: Path, tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "client-ca.crt"
    if content is not None:
        file.write_text(content)

    with pytest.raises(CertificateError) as refused:
        Certificates(pair, Heard(), client_authorities=file)

    assert str(refused.value) == problem.format(file=file)
