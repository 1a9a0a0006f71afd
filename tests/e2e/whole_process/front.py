"""Plays the Service in front of the replicas: an address that stays while they come and go."""

import contextlib
import http.client
import socket
import socketserver
import threading
from types import TracebackType
from typing import Any, Final, Self

from tests.e2e.resource_manager import ResourceManager

PIECE: Final = 64 * 1024


class Front:
    """A context manager: while it is entered, connections to its port go to a replica that says that it is ready.

    Once there, they stay there, as with a Service.
    """

    def __init__(self) -> None:
        self._replicas: list[ResourceManager] = []
        front = self

        class Connection(socketserver.BaseRequestHandler):
            """One connection of an API server."""

            def handle(self) -> None:
                """Carry it to a replica; without one that is ready it ends."""
                front._carry(self.request)

        self._server = _Server(("127.0.0.1", 0), Connection)
        self._thread = threading.Thread(target=self._server.serve_forever, name="front", daemon=True)

    @property
    def url(self) -> str:
        """Where webhooks are reached."""
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(self, replica: ResourceManager) -> None:
        """Let a replica get connections when it is ready."""
        self._replicas.append(replica)

    def _carry(self, caller: socket.socket) -> None:
        for replica in self._replicas:
            with contextlib.suppress(OSError):
                if replica.probe("/readyz")[0] != http.client.OK:
                    continue
                with socket.create_connection(("127.0.0.1", replica.webhook_port)) as server:
                    back = threading.Thread(target=pass_on, args=(server, caller), daemon=True)
                    back.start()
                    pass_on(caller, server)
                    back.join()
                return


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever breaks a connection off has nothing to be told."""


def pass_on(source: socket.socket, sink: socket.socket) -> None:
    """What one side says, until it says no more."""
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            sink.sendall(piece)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
