"""Serves health endpoints and metrics over HTTP.

Decides nothing: what is healthy and what the metrics say come from outside.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web

from hedgerow_adapters.probes.health import Check, Endpoint, HealthAnswer, health_of, health_of_one

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LAST_PORT: Final = 65_535
STOP_TIMEOUT: Final = 1.0
"""Seconds that answers under way get when the server stops."""
_HEADERS: Final = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-cache, no-store, must-revalidate",
    "X-Content-Type-Options": "nosniff",
}

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
Routes: TypeAlias = Mapping[str, Handler]


class ListenError(OSError):
    """An address cannot be listened on; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a server listens."""

    address: str
    """Empty: every address."""
    port: int
    """0: any that is free."""
    section: str = field(default="", compare=False)
    """Where the configuration asks for it, such as `server.metrics`; empty: it does not."""

    def __str__(self) -> str:
        """As users write it."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Ports:
    """Where servers turned out to listen; none: not at all."""

    health: int | None
    metrics: int | None


def listener(bind_address: str, port: int, section: str = "") -> Listener | None:
    """The listener that a section of a configuration asks for; port 0 asks for none, as with controller-runtime."""
    return Listener(bind_address, port, section) if port else None


@contextmanager
def explained(purpose: str, where: Listener) -> Iterator[None]:
    """Turn what keeps one from listening into a sentence that names the section of the configuration.

    The port is looked at first: some event loops take another one for a port that there is not.

    Args:
        purpose: what is listened for.
        where: the address.

    Raises:
        ListenError: it cannot be listened on.
    """
    if not 0 <= where.port <= LAST_PORT:
        at = f"{where.section}.port" if where.section else "port"
        raise ListenError(f"{at}: {where.port} is no port, which are 0 to {LAST_PORT}")
    sentence = f"{where.section}: " * bool(where.section) + f"cannot listen on {where} for {purpose}"
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else error.strerror
        raise ListenError(f"{sentence}: {reason or error}") from error
    except ValueError as error:
        raise ListenError(f"{sentence}: {where.address!r} is no address") from error


@asynccontextmanager
async def serve(
    *,
    health: Listener | None = None,
    metrics: Listener | None = None,
    endpoints: Collection[Endpoint] = (),
    exposition: Callable[[], bytes] = bytes,
    on_problem: Callable[[str, Mapping[str, str]], None] = lambda _endpoint, _problems: None,
) -> AsyncIterator[Ports]:
    """Serve until the context is left; where both listeners are the same fixed port, one server serves both.

    Args:
        health: where the endpoints are served; none: nowhere.
        metrics: where `/metrics` is served; none: nowhere.
        endpoints: served at `/<name>`, their checks also at `/<name>/<check>`.
        exposition: all metrics in the text format of Prometheus.
        on_problem: told of every failed answer: the endpoint's name, and the problems by check.

    Raises:
        ListenError: an address cannot be listened on.
    """
    health_routes = {path: handler for endpoint in endpoints for path, handler in _routes(endpoint, on_problem).items()}
    metrics_routes = {"/metrics": _metrics_handler(exposition)}
    async with AsyncExitStack() as stack:
        if health is not None and health == metrics and health.port:
            port = await stack.enter_async_context(
                _server("health probes and metrics", health, health_routes | metrics_routes)
            )
            yield Ports(port, port)
            return
        health_port = metrics_port = None
        if health is not None:
            health_port = await stack.enter_async_context(_server("health probes", health, health_routes))
        if metrics is not None:
            metrics_port = await stack.enter_async_context(_server("metrics", metrics, metrics_routes))
        yield Ports(health_port, metrics_port)


def _routes(endpoint: Endpoint, on_problem: Callable[[str, Mapping[str, str]], None]) -> Routes:
    """What is served at which path for an endpoint."""

    async def answer_all(request: web.Request) -> web.Response:
        excluded = request.query.getall("exclude", [])
        answer = await health_of(endpoint, excluded=excluded, verbose="verbose" in request.query)
        return respond(answer)

    def answer_one(name: str, check: Check) -> Handler:
        async def answer(_request: web.Request) -> web.Response:
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
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=exposition(), headers={"Content-Type": METRICS_TYPE})

    return answer


@asynccontextmanager
async def _server(purpose: str, where: Listener, routes: Routes) -> AsyncIterator[int]:
    """A server at an address until the context is left; the port it listens on."""
    app = web.Application()
    for path, handler in routes.items():
        app.router.add_get(path, handler)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=STOP_TIMEOUT)
    await runner.setup()
    try:
        await _listen(purpose, where, runner)
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _listen(purpose: str, where: Listener, runner: web.AppRunner) -> None:
    with explained(purpose, where):
        await web.TCPSite(runner, where.address or None, where.port).start()
