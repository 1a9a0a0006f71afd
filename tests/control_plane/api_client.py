"""Plain HTTPS requests to the API server, so that tests look at the world without the client under test."""

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlencode

REQUEST_TIMEOUT = 30.0


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
