"""The admission server at work in a thread, so that a real API server reaches webhooks while a test waits for it."""

import asyncio
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from hedgerow.admission import Webhook
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.admission.certificates import Certificates
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer
from hedgerow_adapters.admission.server import AdmissionServer, Limits
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot
from hedgerow_adapters.kubernetes.live_reads import Questions
from hedgerow_adapters.listening.accepting import Listener
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Transport
from tests.contract.targets import Target
from tests.control_plane import PATIENCE

HOST = "127.0.0.1"


@dataclass(frozen=True)
class ServingPair:
    """A certificate for the loopback address, which is its own authority, in a folder with its key."""

    folder: Path
    certificate_pem: bytes

    @classmethod
    def new(cls, folder: Path, *, lasts: timedelta = timedelta(days=30)) -> Self:
        """A pair made for this test run, which expires some time from now."""
        key = generate_private_key(SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "webhooks of a test")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + lasts)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, SHA256())
        )
        pem = certificate.public_bytes(Encoding.PEM)
        (folder / "tls.crt").write_bytes(pem)
        (folder / "tls.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return cls(folder, pem)


@contextmanager
def serving(webhooks: Collection[Webhook], pair: ServingPair, target: Target) -> Iterator[int]:
    """Serve webhooks, which read the target, until the context is left; the port."""
    started: list[int] = []
    is_up = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        server = _server(webhooks, pair, target)
        async with server.serving() as port:
            started.append(port)
            is_up.set()
            await stop.wait()
        # A loop that ends before its connections complains.
        while len(server._http._connections):  # noqa: ASYNC110 -- nothing tells of the end of the last one
            await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert is_up.wait(PATIENCE), "the admission server does not start"
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the admission server does not stop"
        loop.close()


def _server(webhooks: Collection[Webhook], pair: ServingPair, target: Target) -> AdmissionServer:
    observer = AdmissionObserver()
    transport: Transport = _Transport(target)
    reviewer = Reviewer(
        webhooks,
        lambda webhook: _LiveView(webhook, target),
        Questions(dict.fromkeys(Cluster, transport)).ask,
        observer,
    )
    certificates = Certificates(pair.folder, observer)
    limits = Limits(farewell=0, goodbye=0.1)
    return AdmissionServer(
        Listener(HOST, 0), certificates, Exchange(reviewer, observer), limits=limits, observer=observer
    )


class _LiveView:
    """What a webhook reads, read from the API server at the moment of the review."""

    def __init__(self, webhook: Webhook, target: Target) -> None:
        self._webhook = webhook
        self._target = target

    async def completed(self) -> None:
        """It is always complete."""

    @property
    def snapshot(self) -> Snapshot:
        stores = {}
        for read in self._webhook.reads:
            store = stores[read.resource] = ObjectStore(
                index for index in self._webhook.indexes if index.resource == read.resource
            )
            answer = self._target.send(requests.list_page(read.resource))
            for manifest in answer.body["items"] if answer.is_success else ():
                store.put(
                    read.transform({"apiVersion": read.resource.api_version, "kind": read.resource.kind, **manifest})
                )
        return StoreSnapshot(stores)


class _Transport:
    """A target as what asks questions knows it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def send(self, request: Request, **_options: Any) -> Response:
        return await asyncio.to_thread(self._target.send, request)

    def stream(self, _request: Request, *, timeout: float) -> Any:
        raise NotImplementedError


@contextmanager
def silent_port() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server((HOST, 0)) as listening:
        yield listening.getsockname()[1]


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port where no connection is taken, and that nobody else gets."""
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        yield bound.getsockname()[1]
