"""Serves health endpoints and metrics over HTTP. Anybody may ask, so clients are kept within limits by `listening`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias, cast

from aiohttp import web

from hedgerow_adapters.listening import Connection, ConnectionObserver, FileBudget, HttpServer, Limits, Listener
from hedgerow_adapters.probes.health import Check, Endpoint, HealthAnswer, health_of, health_of_one

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LIMITS: Final = Limits(connections=256, request=10.0, held=2**20)
"""Of each of the two listeners; a check has five seconds."""
_HEADERS: Final = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-cache, no-store, must-revalidate",
    "X-Content-Type-Options": "nosniff",
}

Handler: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.Response]]
Routes: TypeAlias = Mapping[str, Handler]


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that servers listen on; none: there is no server."""

    health: int | None
    metrics: int | None


@asynccontextmanager
async def serve(
    *,
    health: Listener | None = None,
    metrics: Listener | None = None,
    endpoints: Collection[Endpoint] = (),
    exposition: Callable[[], bytes] = bytes,
    on_problem: Callable[[str, Mapping[str, str]], None] = lambda _endpoint, _problems: None,
    limits: Limits = LIMITS,
    files: FileBudget | None = None,
    observer: ConnectionObserver | None = None,
) -> AsyncIterator[Ports]:
    """Serve until the context is left; where both listeners are the same fixed port, one server serves both.

    Args:
        health: where the endpoints are served; none: nowhere.
        metrics: where `/metrics` is served; none: nowhere.
        endpoints: served at `/<name>`, their checks also at `/<name>/<check>`.
        exposition: all metrics in the text format of Prometheus.
        on_problem: called for every failed answer with the endpoint's name and the problems by check.
        limits: of the clients of each listener.
        files: of all listeners of the process; none: there are no others.
        observer: hears about connections.

    Raises:
        ListenError: an address cannot be listened on.
    """
    files = files or FileBudget.of(2 * limits.connections)

    def server(purpose: str, where: Listener, routes: Routes) -> AbstractAsyncContextManager[int]:
        return _serving(HttpServer(purpose, where, _router(routes), limits=limits, files=files, observer=observer))

    health_routes = {path: handler for endpoint in endpoints for path, handler in _routes(endpoint, on_problem).items()}
    metrics_routes = {"/metrics": _metrics_handler(exposition)}
    async with AsyncExitStack() as stack:
        if health is not None and health == metrics and health.port:
            routes = health_routes | metrics_routes
            port = await stack.enter_async_context(server("health probes and metrics", health, routes))
            yield Ports(port, port)
            return
        health_port = metrics_port = None
        if health is not None:
            health_port = await stack.enter_async_context(server("health probes", health, health_routes))
        if metrics is not None:
            metrics_port = await stack.enter_async_context(server("metrics", metrics, metrics_routes))
        yield Ports(health_port, metrics_port)


def _routes(endpoint: Endpoint, on_problem: Callable[[str, Mapping[str, str]], None]) -> Routes:
    """What is served at which path for an endpoint."""

    async def answer_all(request: web.BaseRequest) -> web.Response:
        excluded = request.query.getall("exclude", [])
        answer = await health_of(endpoint, excluded=excluded, verbose="verbose" in request.query)
        return respond(answer)

    def answer_one(name: str, check: Check) -> Handler:
        async def answer(_request: web.BaseRequest) -> web.Response:
            return respond(await health_of_one(name, check))

        return answer

    def respond(answer: HealthAnswer) -> web.Response:
        if answer.problems:
            on_problem(endpoint.name, answer.problems)
        return web.Response(status=answer.status, text=answer.text, headers=_HEADERS)

    path = f"/{endpoint.name}"
    single = {f"{path}/{name}": answer_one(name, check) for name, check in endpoint.effective_checks.items()}
    return {path: answer_all, f"{path}/": answer_all, **single}


def _metrics_handler(exposition: Callable[[], bytes]) -> Handler:
    async def answer(_request: web.BaseRequest) -> web.Response:
        return web.Response(body=exposition(), headers={"Content-Type": METRICS_TYPE})

    return answer


def _router(routes: Routes) -> Handler:
    """Answers requests to read, by their path alone."""

    async def respond(request: web.BaseRequest) -> web.Response:
        handler = routes.get(request.path)
        if handler is None:
            return _refusal(HTTPStatus.NOT_FOUND)
        if request.method not in {"GET", "HEAD"}:
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, Allow="GET,HEAD")
        connection = cast("Connection", request.protocol)
        connection.begin()
        try:
            return await handler(request)
        finally:
            connection.rest()

    return respond


def _refusal(status: HTTPStatus, **headers: str) -> web.Response:
    return web.Response(status=status, text=f"{status}: {status.phrase}", headers=headers)


@asynccontextmanager
async def _serving(server: HttpServer) -> AsyncIterator[int]:
    """A server until the context is left; yields its port."""
    port = server.open()
    try:
        yield port
    finally:
        await server.close()
