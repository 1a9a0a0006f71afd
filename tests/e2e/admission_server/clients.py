"""An admission server on loopback, and clients that behave well or badly."""

import asyncio
import contextlib
import json
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from typing_extensions import override

from hedgerow.admission import AdmissionRequest, Decision, Denied, Mutated, Mutation, Webhook
from hedgerow.machinery.questions import Answer, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.admission.certificates import Certificates
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer
from hedgerow_adapters.admission.server import AdmissionServer, Limits
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.listening.accepting import Listener
from tests.control_plane import PATIENCE

PATH = "/webhooks/stamp"
UNHURRIED = Limits(farewell=0.0)


def stamp(request: AdmissionRequest) -> Decision:
    """A review that writes its request's name into a label."""
    before = request.object
    return Mutated((Mutation("stamp", before, {**before, "stamp": request.name}),))


class Complete:
    """A view of nothing, complete from the start or once told so."""

    def __init__(self, *, complete: bool = True) -> None:
        self.snapshot: Snapshot = StoreSnapshot({}, {})
        self.is_complete = asyncio.Event()
        if complete:
            self.is_complete.set()

    async def completed(self) -> None:
        await self.is_complete.wait()


@dataclass
class Heard(AdmissionObserver):
    """What a server has told."""

    begun: int = 0
    answers: list[tuple[str, int]] = field(default_factory=list)
    denials: list[Denied] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    handshakes_failed: int = 0
    handshake_problems: list[str] = field(default_factory=list)
    overdue_connections: int = 0
    certificates: int = 0
    is_expired: bool = False
    certificate_problems: list[str] = field(default_factory=list)
    certificate_news: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    def began(self, path: str) -> None:
        self.begun += 1

    @override
    def answered(self, path: str, status: int, seconds: float) -> None:
        self.answers.append((path, status))

    @override
    def denied(self, path: str, request: AdmissionRequest, denied: Denied) -> None:
        self.denials.append(denied)

    @override
    def raised(self, path: str, request: AdmissionRequest, error: Exception) -> None:
        self.problems.append(repr(error))

    @override
    def malformed(self, problem: str) -> None:
        self.problems.append(problem)

    @override
    def handshake_failed(self, problem: str) -> None:
        self.handshakes_failed += 1
        self.handshake_problems.append(problem)

    @override
    def overdue(self) -> None:
        self.overdue_connections += 1

    @override
    def certificate_read(self, not_after: datetime, left: timedelta) -> None:
        self.certificates += 1
        self.is_expired = left <= timedelta(0)
        self.certificate_news.set()

    @override
    def certificate_expired(self, not_after: datetime) -> None:
        self.is_expired = True

    @override
    def certificate_unreadable(self, problem: str) -> None:
        self.certificate_problems.append(problem)
        self.certificate_news.set()


async def no_answers(question: Question) -> Answer:
    raise AssertionError(f"nobody expected {question}")


@dataclass
class Running:
    """A server that listens."""

    port: int
    server: AdmissionServer
    heard: Heard


@contextlib.asynccontextmanager
async def admission_server(
    folder: Path,
    review: Callable[[AdmissionRequest], Decision] = stamp,
    *,
    limits: Limits = UNHURRIED,
    view: Complete | None = None,
    client_authorities: Path | None = None,
) -> AsyncIterator[Running]:
    """A server with one webhook, and the pair of a folder."""
    heard = Heard()
    seen = view or Complete()
    webhook = Webhook("stamp", PATH, lambda request, _snapshot: review(request))
    reviewer = Reviewer([webhook], lambda _webhook: seen, no_answers, heard)
    certificates = Certificates(folder, heard, client_authorities=client_authorities, period=0.02)
    server = AdmissionServer(
        Listener("127.0.0.1", 0), certificates, Exchange(reviewer, heard), limits=limits, observer=heard
    )
    async with server.serving() as port:
        yield Running(port, server, heard)


# Certificates.


def issue(folder: Path, name: str = "server") -> Path:
    """A folder with a pair of its own that is its own authority."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    names = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return folder


def swap(mount: Path, content: Path) -> None:
    """Let a folder show other content as mounted Secrets do: by replacing a link that its links go through."""
    mount.mkdir(exist_ok=True)
    for name in ("tls.crt", "tls.key"):
        if not (mount / name).is_symlink():
            (mount / name).symlink_to(Path("..data", name))
    (mount / "..next").symlink_to(content)
    os.replace(mount / "..next", mount / "..data")  # noqa: PTH105 -- the very call that the kubelet makes


# Clients.


def anybody(*, newest: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """Trusts any server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if newest is not None:
        context.maximum_version = newest
    return context


def known_by(pair: Path, *, newest: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """Trusts any server, and shows the certificate of a folder."""
    context = anybody(newest=newest)
    context.load_cert_chain(pair / "tls.crt", pair / "tls.key")
    return context


def document(uid: str = "0001", name: str = "cart", **fields: Any) -> dict[str, Any]:
    """A review of a small object."""
    request = {"uid": uid, "name": name, "namespace": "shop", "operation": "CREATE", "object": {"kind": "Pod"}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {**request, **fields}}


def post(body: bytes, *headers: str, path: str = PATH, length: int | None = None) -> bytes:
    """The bytes of a request as API servers send it, with further headers."""
    stated = len(body) if length is None else length
    lines = [f"POST {path} HTTP/1.1", "Host: webhooks", "Content-Type: application/json", f"Content-Length: {stated}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, port: int, tls: ssl.SSLContext | None = None) -> AsyncIterator["Client"]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls or anybody())
        try:
            yield cls(reader, writer)
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def response(self) -> tuple[int, bytes]:
        """Status and body of the next answer."""
        status, body, _ = await self.answer()
        return status, body

    async def answer(self) -> tuple[int, bytes, bool]:
        """Status and body of the next answer, and whether the connection may be used again."""
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            lines = head.decode().lower().split("\r\n")
            length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
            body = await self.reader.readexactly(length)
            return int(lines[0].split()[1]), body, "connection: close" not in lines

    async def ask(self, body: bytes | dict[str, Any], *headers: str, path: str = PATH) -> tuple[int, Any]:
        """Status and document of the answer to a body."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.send(post(text, *headers, path=path))
        status, answer = await self.response()
        return status, json.loads(answer) if answer.startswith(b"{") else answer

    async def is_closed(self) -> bool:
        """Whether the server ends the connection without another byte."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.reader.read(1) == b""
        except ConnectionError:
            return True


async def ask_once(port: int, body: bytes | dict[str, Any], *headers: str, path: str = PATH) -> tuple[int, Any]:
    """Status and answer on a connection of its own."""
    async with Client.of(port) as client:
        return await client.ask(body, *headers, path=path)


async def until(condition: Callable[[], bool], otherwise: Callable[[], object] = lambda: "") -> None:
    """Return when a condition holds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 -- conditions of any kind have no event
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"it never came to pass: {otherwise()}") from None


def message(answer: Any) -> Sequence[Any]:
    """Whether it is allowed, code and message, of an answer."""
    response = answer["response"]
    return response["allowed"], response["status"]["code"], response["status"].get("message")
