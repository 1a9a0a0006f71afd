"""Plain HTTPS requests to the API server, so that tests look at the world without the client under test."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlencode

from tests.control_plane.connections import Connections

STREAM_SECONDS = 3600


class Stream:
    """A watch that goes on for as long as somebody reads from it."""

    def __init__(self, connection: http.client.HTTPSConnection, response: http.client.HTTPResponse) -> None:
        self._socket = connection.sock
        self._response = response

    def events(self) -> Iterator[dict[str, Any]]:
        """Every event when it comes."""
        while line := self._response.readline():
            yield json.loads(line)

    def break_off(self) -> None:
        """End it, for whoever is waiting for an event too."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Answer(NamedTuple):
    """An answer as it came."""

    status: int
    content_type: str
    content: bytes


class ApiClient:
    """Verifies the server's certificate; is closed when it is no longer needed."""

    def __init__(self, port: int, ca_pem: str) -> None:
        self._connections = Connections(port, ca_pem)

    def close(self) -> None:
        """Close the connections that are kept."""
        self._connections.close()

    def exchange(
        self, method: str, path: str, content: str | bytes | BinaryIO | None, headers: Mapping[str, str]
    ) -> Answer:
        """The answer to a request that is sent as it is."""
        with self._connections.one() as connection:
            connection.request(method, path, content, dict(headers))
            response = connection.getresponse()
            return Answer(response.status, response.getheader("Content-Type", ""), response.read())

    def request(
        self, method: str, path: str, body: Any = None, *, token: str, content_type: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        """The status code and the JSON object of the answer; an answer that is text is under "text"."""
        answer = self._ask(method, path, body, token, content_type or _usual_content_type(method))
        return answer.status, _object_of(answer.content)

    def watch(self, path: str, *, token: str, resource_version: str, seconds: int) -> list[dict[str, Any]]:
        """All events of a watch that the server ends after that many seconds.

        A refusal to even start the watch is given as the ERROR event that it would be in a stream.
        """
        query = {"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": seconds}
        query["allowWatchBookmarks"] = "false"
        answer = self._ask("GET", f"{path}?{urlencode(query)}", None, token, "application/json")
        if answer.status != http.client.OK:
            return [{"type": "ERROR", "object": _object_of(answer.content)}]
        return [json.loads(line) for line in answer.content.splitlines()]

    def create_all(self, objects: Iterable[tuple[str, Any]], *, token: str) -> None:
        """Create many objects, each in its collection."""
        for path, body in objects:
            status, answer = self.request("POST", path, body, token=token)
            if status != http.client.CREATED:
                raise AssertionError(f"POST {path}: {answer}")

    @contextlib.contextmanager
    def stream(
        self, path: str, *, token: str, resource_version: str, patience: float | None = None
    ) -> Iterator[Stream]:
        """The events of a watch while they happen.

        Reading from it fails with a TimeoutError when no event has come for as long as the patience lasts.
        """
        query = urlencode({"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": STREAM_SECONDS})
        with contextlib.closing(self._connections.new(timeout=patience)) as connection:
            connection.request("GET", f"{path}?{query}", headers={"Authorization": f"Bearer {token}"})
            yield Stream(connection, connection.getresponse())

    def _ask(self, method: str, path: str, body: Any, token: str, content_type: str) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        return self.exchange(method, path, None if body is None else json.dumps(body), headers)


def _usual_content_type(method: str) -> str:
    return "application/merge-patch+json" if method == "PATCH" else "application/json"


def _object_of(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {"text": content.decode(errors="replace")}
    return value if isinstance(value, dict) else {"text": content.decode(errors="replace")}
