"""A webhook that has its answer ready: what stands between it and its client is all the API server's doing.

It reads no more of a review than its UID, on blocking connections, and trusts that it is the API server that asks.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

UID: Final = "00000000-0000-0000-0000-000000000000"
"""Stands in the answer for the UID of the very request."""
_UID_MEMBER: Final = b'"uid":"'


@contextlib.contextmanager
def ready_answer(certificate: Path, answer: bytes) -> Iterator[int]:
    """Answer so, whatever is asked, until the block ends; the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "tls.crt", certificate / "tls.key")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_accept, args=(listening, context, head.encode() + answer), daemon=True).start()
        yield listening.getsockname()[1]


def _accept(listening: socket.socket, context: ssl.SSLContext, answer: bytes) -> None:
    with contextlib.suppress(OSError):  # that is how it ends
        while True:
            accepted, _ = listening.accept()
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_serve, args=(accepted, context, answer), daemon=True).start()


def _serve(accepted: socket.socket, context: ssl.SSLContext, answer: bytes) -> None:
    with contextlib.suppress(OSError), context.wrap_socket(accepted, server_side=True) as connection:
        stream: BinaryIO = connection.makefile("rb")
        while body := _body(stream):
            start = body.index(_UID_MEMBER) + len(_UID_MEMBER)
            connection.sendall(answer.replace(UID.encode(), body[start : start + len(UID)]))


def _body(stream: BinaryIO) -> bytes:
    """The body of the next request; empty when there is none."""
    length = 0
    while line := stream.readline().strip().lower():
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return stream.read(length)
