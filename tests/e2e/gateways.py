"""Gateways between a process and its API server that do harm: they repeat credentials, hold back answers, or kill."""

import contextlib
import http.client
import itertools
import json
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Any, Final, Self

from tests.control_plane import PATIENCE, ControlPlane


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def authorization(self) -> str:
        return self.headers.get("authorization", "")

    @property
    def creates_a_policy(self) -> bool:
        return self.method == "POST" and self.path.endswith("/networkpolicies")


@dataclass(frozen=True)
class Reply:
    """An answer, whole or, of a watch, line by line."""

    status: int
    content_type: str
    content: bytes = b""
    lines: Generator[bytes, None, None] | None = None


class Gateway(ThreadingMixIn, HTTPServer):
    """A context manager: answers on loopback, over plain HTTP, what the API server answers.

    Those who call it have to be gone when it is left.
    """

    def __init__(self, control_plane: ControlPlane, token: str = "") -> None:
        """A gateway that nobody can reach before it is entered.

        Args:
            control_plane: where requests go on.
            token: who they come from then, whatever their callers show; empty: as their callers.
        """
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.url: Final = f"http://127.0.0.1:{self.server_port}"
        self.lock: Final = threading.Lock()
        self._token = token
        self._control_plane = control_plane
        self._upstream = control_plane.url.removeprefix("https://")
        self._tls = ssl.create_default_context(cadata=control_plane.ca_pem)
        self._open: set[http.client.HTTPSConnection] = set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown()
        self._thread.join()
        for connection in tuple(self._open):
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def answer(self, asked: Asked) -> Reply | None:
        """What a request is answered; none: nothing."""
        return self.hand_on(asked)

    def hand_on(self, asked: Asked) -> Reply:
        """What the API server answers."""
        kept = {name: value for name, value in asked.headers.items() if name in {"accept", "content-type"}}
        headers = {**kept, "Authorization": f"Bearer {self._token}" if self._token else asked.authorization}
        if "watch=true" in asked.path:
            return self._watch(asked, headers)
        return Reply(*self._control_plane.exchange(asked.method, asked.path, asked.body or None, headers))

    def _watch(self, asked: Asked, headers: Mapping[str, str]) -> Reply:
        connection = http.client.HTTPSConnection(self._upstream, timeout=PATIENCE, context=self._tls)
        self._open.add(connection)
        with contextlib.ExitStack() as stack:
            stack.callback(self._close, connection)
            connection.request(asked.method, asked.path, headers=dict(headers))
            answer = connection.getresponse()
            content_type = answer.getheader("Content-Type", "application/json")
            if answer.status == http.client.OK:
                return Reply(answer.status, content_type, lines=_lines(answer, stack.pop_all()))
            return Reply(answer.status, content_type, answer.read())

    def _close(self, connection: http.client.HTTPSConnection) -> None:
        self._open.discard(connection)
        connection.close()


def _lines(answer: http.client.HTTPResponse, until: contextlib.ExitStack) -> Generator[bytes, None, None]:
    """The lines of a watch."""
    with until:
        while line := answer.readline():
            yield line


class _Exchange(BaseHTTPRequestHandler):
    """One connection of a caller."""

    protocol_version = "HTTP/1.1"
    server: Gateway

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            reply = self.server.answer(Asked(self.command, self.path, headers, body))
            if reply is None:
                self.close_connection = True
            elif reply.lines is None:
                self._send(reply, "Content-Length", str(len(reply.content)), [reply.content])
            else:
                with contextlib.closing(reply.lines):
                    self._send(reply, "Transfer-Encoding", "chunked", _chunks(reply.lines))
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # one of the two sides has gone

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 -- the names that the base class looks for

    def _send(self, reply: Reply, name: str, value: str, pieces: Iterable[bytes]) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header(name, value)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class names it so
        """Nothing: what happens here is looked at from the other side."""


def _chunks(lines: Iterable[bytes]) -> Iterable[bytes]:
    for line in lines:
        yield b"%x\r\n%s\r\n" % (len(line), line)
    yield b"0\r\n\r\n"


def _status(code: int, reason: str) -> Callable[[str], Reply]:
    """A refusal as API servers word it, which repeats what it was shown."""

    def refusal(authorization: str) -> Reply:
        said = f"{reason}, said the server to {authorization}"
        causes = [{"reason": reason, "message": authorization}]
        status = {"kind": "Status", "code": code, "reason": reason, "message": said, "details": {"causes": causes}}
        return Reply(code, "application/json", json.dumps(status).encode())

    return refusal


REFUSALS: Final[Mapping[str, Callable[[str], Reply]]] = {
    "unauthorized": _status(401, "Unauthorized"),
    "forbidden": _status(403, "Forbidden"),
    "panic": _status(500, "InternalError"),
    "a proxy's page": lambda said: Reply(502, "text/html", f"<p>Bad Gateway for {said}</p>".encode()),
    "a proxy's broken answer": lambda said: Reply(502, "application/json", f'{{"message": "{said}'.encode()),
    "a login page": lambda said: Reply(200, "text/html", f"<p>Who is {said}?</p>".encode()),
}


class EchoingGateway(Gateway):
    """Refuses every so many requests, and repeats the credentials that it was shown."""

    def __init__(self, control_plane: ControlPlane, token: str, *, every: int) -> None:
        super().__init__(control_plane, token)
        self.refused: Final = Counter[str]()
        self._every = every
        self._requests = itertools.count(1)
        self._ways = itertools.cycle(REFUSALS)

    def answer(self, asked: Asked) -> Reply | None:
        """A refusal, in all the ways there are one after the other, or the API server's answer."""
        with self.lock:
            way = None if next(self._requests) % self._every else next(self._ways)
        if way is None:
            return self.hand_on(asked)
        self.refused[way] += 1
        return REFUSALS[way](asked.authorization)


class SlowGateway(Gateway):
    """Hands every answer on some seconds late, except the events of watches: they overtake the answers to writes.

    Answers about leases are not late: they are about whether this process leads, not about its writes.
    """

    def __init__(self, control_plane: ControlPlane, token: str, *, seconds: float) -> None:
        super().__init__(control_plane, token)
        self._seconds = seconds

    def answer(self, asked: Asked) -> Reply:
        reply = self.hand_on(asked)
        if reply.lines is None and "/leases" not in asked.path:
            time.sleep(self._seconds)
        return reply


class NarrowGateway(Gateway):
    """Hands large answers on in pieces, as a slow network does: it takes its time, and never stops."""

    PIECES: Final = 16
    LARGE: Final = 2**17

    def __init__(self, control_plane: ControlPlane, token: str, *, pause: float) -> None:
        """A gateway that nobody can reach before it is entered; so many seconds pass between two pieces."""
        super().__init__(control_plane, token)
        self.slowed = 0
        self._pause = pause

    def answer(self, asked: Asked) -> Reply:
        """The API server's answer."""
        reply = self.hand_on(asked)
        if len(reply.content) < self.LARGE:
            return reply
        with self.lock:
            self.slowed += 1
        return Reply(reply.status, reply.content_type, lines=self._pieces(reply.content))

    def _pieces(self, content: bytes) -> Generator[bytes, None, None]:
        size = -(-len(content) // self.PIECES)
        for begin in range(0, len(content), size):
            yield content[begin : begin + size]
            time.sleep(self._pause)


class HoldingGateway(Gateway):
    """Has policies created, and tells nobody so before it may."""

    def __init__(self, control_plane: ControlPlane) -> None:
        super().__init__(control_plane)
        self.held = 0
        self._may_answer = threading.Event()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.let_go()
        super().__exit__(kind, error, traceback)

    def let_go(self) -> None:
        """Send the answers that are held, and hold back no others."""
        self._may_answer.set()

    def answer(self, asked: Asked) -> Reply | None:
        """The API server's answer, that to a creation in its own time."""
        reply = self.hand_on(asked)
        if asked.creates_a_policy and not self._may_answer.is_set():
            with self.lock:
                self.held += 1
            self._may_answer.wait()
        return reply


class DeadlyGateway(Gateway):
    """Kills who asks at a certain creation of a policy: before or after that reached the API server.

    It tells those who ask apart by the tokens that they show. Policies are created one at a time, so that there are
    exactly as many as were meant to be.
    """

    def __init__(self, control_plane: ControlPlane, token: str) -> None:
        super().__init__(control_plane, token)
        self._victim = ""
        self._kill: Callable[[], None] = lambda: None
        self._left = 0
        self._commits = False

    def lie_in_wait(self, victim: str, kill: Callable[[], None], *, creation: int, commits: bool) -> None:
        """Have who shows a token killed at the so many-th creation, which reaches the API server or does not.

        Nobody else can create anything, such as the victim before, whose requests may still be under way.
        """
        with self.lock:
            self._victim, self._kill, self._left, self._commits = victim, kill, creation, commits

    def stand_aside(self, survivor: str) -> None:
        """Harm nobody who shows a token."""
        self.lie_in_wait(survivor, lambda: None, creation=-1, commits=True)

    def answer(self, asked: Asked) -> Reply | None:
        """The API server's answer, but none to the creation that is the last one."""
        if not asked.creates_a_policy:
            return self.hand_on(asked)
        with self.lock:
            if asked.authorization != f"Bearer {self._victim}" or self._left == 0:
                return None
            self._left -= 1
            if self._left != 0:
                return self.hand_on(asked)
            if self._commits:
                self.hand_on(asked)
            self._kill()
            return None
