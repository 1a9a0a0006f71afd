"""Plays kube-proxy for an API server: its calls of webhooks at Services arrive here, and go on to a pod."""

import contextlib
import json
import shutil
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.e2e.whole_process.front import pass_on

_LONGEST_HEAD: Final = 4096


class ServiceProxy:
    """A context manager: while it is entered, an API server with its flag reaches Services.

    `route` returns the local port for an address of a Service, `IP:PORT`, or none where no pod is ready.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="services-"))
        self.route: Callable[[str], int | None] = lambda _address: None
        proxy = self

        class Connection(socketserver.StreamRequestHandler):
            """One connection of the API server."""

            def handle(self) -> None:
                """Carry it to a pod; without one that is ready it is refused."""
                proxy._carry(self.request)

        self._server = _Server(str(self._folder / "s"), Connection)
        self._thread = threading.Thread(target=self._server.serve_forever, name="services", daemon=True)
        transport = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(self._folder / "s")}}}
        selection = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": transport}],
        }
        (self._folder / "egress.json").write_text(json.dumps(selection), encoding="utf-8")

    @property
    def flag(self) -> str:
        """Makes an API server reach Services by this proxy."""
        return f"--egress-selector-config-file={self._folder / 'egress.json'}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        shutil.rmtree(self._folder)

    def _carry(self, caller: socket.socket) -> None:
        with contextlib.suppress(OSError):
            head = b""
            while not head.endswith(b"\r\n\r\n") and len(head) < _LONGEST_HEAD:
                head += caller.recv(_LONGEST_HEAD)
            port = self.route(head.split()[1].decode())
            if port is None:
                caller.sendall(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", port)) as server:
                caller.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=pass_on, args=(server, caller), daemon=True)
                back.start()
                pass_on(caller, server)
                back.join()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever breaks a connection off has nothing to be told."""
