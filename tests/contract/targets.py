"""The two API servers that every case of the contract runs against, behind one small interface.

`managedFields` are left out of a real server's answers, unless a case is about them: the in-memory cluster keeps none.
"""

import http.client
import json
import ssl
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Protocol
from urllib.parse import urlencode

from hedgerow_adapters.kubernetes.http_session import body_of
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol.transport import Request, Response
from tests.control_plane import PATIENCE, ControlPlane


class Watch(Protocol):
    """The events of an open watch, in order."""

    def next(self) -> Mapping[str, Any] | None:
        """The next event; none once the server has ended the watch. An event that does not come is an error."""
        ...


class Target(Protocol):
    """An API server."""

    def send(self, request: Request) -> Response:
        """Its answer."""
        ...

    def watch(self, request: Request) -> AbstractContextManager[Watch]:
        """An open watch; it is closed when the context is left."""
        ...

    def forget_history(self) -> None:
        """Make all resource versions and continue tokens until now too old."""
        ...

    def undo(self, writes: Callable[[], None]) -> None:
        """Do some writes, and restore the storage from a backup of before."""
        ...

    def make_bookmarks_due(self) -> None:
        """Let watches that want bookmarks get one, where the server does not decide that by itself."""
        ...


class _RecordedWatch:
    """A watch of the in-memory cluster: whatever it has not sent by now will not come."""

    def __init__(self) -> None:
        self.events: deque[Mapping[str, Any] | None] = deque()

    def next(self) -> Mapping[str, Any] | None:
        return self.events.popleft()


class MemoryTarget:
    """The in-memory cluster."""

    def __init__(self) -> None:
        self.cluster = InMemoryCluster()

    def send(self, request: Request) -> Response:
        return self.cluster.handle(request)

    @contextmanager
    def watch(self, request: Request) -> Iterator[Watch]:
        watch = _RecordedWatch()
        opened = self.cluster.watch(request, watch.events.append, lambda _error: watch.events.append(None))
        assert not isinstance(opened, Response), opened
        yield watch
        opened.close()

    def forget_history(self) -> None:
        self.cluster.compact()

    def undo(self, writes: Callable[[], None]) -> None:
        backup = self.cluster.back_up()
        writes()
        self.cluster.restore(backup)

    def make_bookmarks_due(self) -> None:
        self.cluster.send_bookmarks()


class _ReadWatch:
    """A watch of a real server: an event is a line."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response

    def next(self) -> Mapping[str, Any] | None:
        line = self._response.readline()
        event: Mapping[str, Any] | None = _without_managed_fields(json.loads(line)) if line else None
        return event


class ServerTarget:
    """A real kube-apiserver."""

    def __init__(self, control_plane: ControlPlane, *, shows_managed_fields: bool = False) -> None:
        self._control_plane = control_plane
        self._read = _as_it_is if shows_managed_fields else _without_managed_fields

    def send(self, request: Request) -> Response:
        answer = self._exchange(request)
        written = _written_object(request, answer)
        if written is not None:
            self._exchange(written)
        return answer

    def _exchange(self, request: Request) -> Response:
        answer = self._control_plane.exchange(request.method, _path(request), body_of(request), self._headers(request))
        # Of a path that it has never heard of, a server says so in plain words.
        is_json = answer.content_type.startswith("application/json")
        return Response(answer.status, self._read(json.loads(answer.content)) if is_json else answer.content.decode())

    @contextmanager
    def watch(self, request: Request) -> Iterator[Watch]:
        address = self._control_plane.url.removeprefix("https://")
        context = ssl.create_default_context(cadata=self._control_plane.ca_pem)
        connection = http.client.HTTPSConnection(address, timeout=PATIENCE, context=context)
        with closing(connection):
            connection.request(request.method, _path(request), headers=self._headers(request))
            with connection.getresponse() as answer:
                assert answer.status == http.client.OK, answer.read()
                yield _ReadWatch(answer)

    def forget_history(self) -> None:
        self._control_plane.expire_resource_versions()

    def undo(self, writes: Callable[[], None]) -> None:
        with self._control_plane.restored_afterwards():
            writes()

    def make_bookmarks_due(self) -> None:
        """A server sends one two seconds before it ends a watch."""

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self._control_plane.token()}", "Accept": request.accept}
        return headers if request.body is None else {**headers, "Content-Type": request.content_type}


def _written_object(request: Request, answer: Response) -> Request | None:
    """A read of what was just written, which the server answers once its own cache has seen that version.

    A server tries an update on the object of its cache first, and once more if that was stale: webhooks would be asked
    about both.
    """
    if request.method == "GET" or not answer.is_success or not isinstance(answer.body, Mapping):
        return None
    match answer.body.get("metadata"):
        case {"name": str(name), "resourceVersion": str(version)} if version:
            path = f"{request.path}/{name}" if request.method == "POST" else request.path
            return Request("GET", path, {"resourceVersion": version}) if path.endswith(f"/{name}") else None
    return None


def _path(request: Request) -> str:
    return f"{request.path}?{urlencode(request.query)}" if request.query else request.path


Send = Callable[[Request], Response]


def _as_it_is(value: Any) -> Any:
    return value


def _without_managed_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_managed_fields(item) for name, item in value.items() if name != "managedFields"}
    if isinstance(value, list):
        return [_without_managed_fields(item) for item in value]
    return value
