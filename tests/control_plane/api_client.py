"""Plain HTTPS requests to the API server, so that tests look at the world without the client under test."""

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

REQUEST_TIMEOUT = 30.0
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


class ApiClient:
    """Sends one request a connection; verifies the server's certificate."""

    def __init__(self, port: int, ca_pem: str) -> None:
        self._port = port
        self._context = ssl.create_default_context(cadata=ca_pem)

    def request(
        self, method: str, path: str, body: Any = None, *, token: str, content_type: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        """The status code and the JSON object of the answer; an answer that is text is under "text"."""
        status, content = self._exchange(method, path, body, token, content_type or _usual_content_type(method))
        return status, _object_of(content)

    def watch(self, path: str, *, token: str, resource_version: str, seconds: int) -> list[dict[str, Any]]:
        """All events of a watch that the server ends after that many seconds.

        A refusal to even start the watch is given as the ERROR event that it would be in a stream.
        """
        query = {"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": seconds}
        query["allowWatchBookmarks"] = "false"
        status, content = self._exchange("GET", f"{path}?{urlencode(query)}", None, token, "application/json")
        if status != http.client.OK:
            return [{"type": "ERROR", "object": _object_of(content)}]
        return [json.loads(line) for line in content.splitlines()]

    def create_all(self, objects: Iterable[tuple[str, Any]], *, token: str) -> None:
        """Create many objects, each in its collection, by one connection: making it takes longer than a request."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, timeout=REQUEST_TIMEOUT, context=self._context
        )
        with contextlib.closing(connection):
            for path, body in objects:
                connection.request("POST", path, json.dumps(body), headers)
                response = connection.getresponse()
                content = response.read()
                if response.status != http.client.CREATED:
                    raise AssertionError(f"POST {path}: {content.decode(errors='replace')}")

    @contextlib.contextmanager
    def stream(
        self, path: str, *, token: str, resource_version: str, patience: float | None = None
    ) -> Iterator[Stream]:
        """The events of a watch while they happen.

        Reading from it fails with a TimeoutError when no event has come for as long as the patience lasts.
        """
        query = urlencode({"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": STREAM_SECONDS})
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=patience, context=self._context)
        with contextlib.closing(connection):
            connection.request("GET", f"{path}?{query}", headers={"Authorization": f"Bearer {token}"})
            yield Stream(connection, connection.getresponse())

    def _exchange(self, method: str, path: str, body: Any, token: str, content_type: str) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, timeout=REQUEST_TIMEOUT, context=self._context
        )
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def _usual_content_type(method: str) -> str:
    return "application/merge-patch+json" if method == "PATCH" else "application/json"


def _object_of(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {"text": content.decode(errors="replace")}
    return value if isinstance(value, dict) else {"text": content.decode(errors="replace")}
