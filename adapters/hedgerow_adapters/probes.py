"""The HTTP endpoints by which a cluster watches a process: health, readiness, metrics.

The wording is that of Kubernetes components, on which people and scripts rely: an aggregate never tells why a check
failed, as anybody may ask. For the same reason `listening` keeps clients within limits.

Source: managed-resources §4.3; Kubernetes documentation, "Kubernetes API health endpoints".
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias, cast

from aiohttp import web

from hedgerow_adapters.listening.accepting import Listener
from hedgerow_adapters.listening.connection import Connection
from hedgerow_adapters.listening.connections import ConnectionObserver, FileBudget, Limits
from hedgerow_adapters.listening.server import HttpServer

Check: TypeAlias = Callable[[], Awaitable[str | None]]
"""Returns what is wrong, as a clause without a full stop; none: nothing."""

Checks: TypeAlias = Mapping[str, Check]
"""By their names."""
TIME_LIMIT: Final = 5.0
"""Seconds after which a check counts as failed."""
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LIMITS: Final = Limits(connections=256, request=10.0, held=2**20)
"""Of each of the two listeners; a check has five seconds."""
_HEADERS: Final = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-cache, no-store, must-revalidate",
    "X-Content-Type-Options": "nosniff",
}


async def ping() -> None:
    """The check that always passes."""


class SharedCheck:
    """A check that begins at most once in so many seconds, however many probes ask; they share its answer."""

    def __init__(self, check: Check, period: float = 1.0) -> None:
        self._check = check
        self._period = period
        self._run: asyncio.Task[str | None] | None = None
        self._next_at = 0.0

    async def __call__(self) -> str | None:
        """The result of the run that is under way, or of the last one, or else of a new one."""
        now = asyncio.get_running_loop().time()
        if self._run is None or (self._run.done() and now >= self._next_at):
            self._next_at = now + self._period
            self._run = asyncio.ensure_future(self._check())
        # One probe may be cancelled; the others still wait.
        return await asyncio.shield(self._run)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The checks of one path, such as `healthz`; none: it always passes."""

    name: str
    checks: Checks

    @property
    def effective_checks(self) -> Checks:
        """The checks to run."""
        return self.checks or {"ping": ping}


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """An HTTP status and the text that goes with it."""

    status: int
    text: str
    problems: Mapping[str, str]
    """What is wrong, by check: for the process's own logs."""


async def problem_of(check: Check, time_limit: float = TIME_LIMIT) -> str | None:
    """What a check says is wrong; a check that takes too long or raises has failed too."""
    try:
        async with asyncio.timeout(time_limit):
            return await check()
    except TimeoutError:
        return f"no answer within {time_limit:g} s"
    except Exception as error:  # noqa: BLE001 -- a check that breaks is a failed check, not a failed server
        return str(error) or type(error).__name__


async def health_of(
    endpoint: Endpoint, *, excluded: Collection[str] = (), verbose: bool = False, time_limit: float = TIME_LIMIT
) -> HealthAnswer:
    """The answer to all checks of an endpoint together, run side by side but for those whose names are excluded.

    With `verbose` it lists the checks even if all pass.
    """
    checks = endpoint.effective_checks
    asked = {name: check for name, check in checks.items() if name not in excluded}
    found = await asyncio.gather(*(problem_of(check, time_limit) for check in asked.values()))
    problems = {name: problem for name, problem in zip(asked, found, strict=True) if problem is not None}
    if not problems and not verbose:
        return HealthAnswer(HTTPStatus.OK, "ok", {})
    lines = [_line(name, is_excluded=name not in asked, has_failed=name in problems) for name in sorted(checks)]
    if unknown := sorted(set(excluded) - set(checks)):
        quoted = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    lines.append(f"{endpoint.name} check {'failed' if problems else 'passed'}")
    status = HTTPStatus.INTERNAL_SERVER_ERROR if problems else HTTPStatus.OK
    return HealthAnswer(status, "".join(f"{line}\n" for line in lines), problems)


def _line(name: str, *, is_excluded: bool, has_failed: bool) -> str:
    if is_excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: reason withheld" if has_failed else f"[+]{name} ok"


async def health_of_one(name: str, check: Check, time_limit: float = TIME_LIMIT) -> HealthAnswer:
    """The answer to one check alone, which tells why it failed."""
    problem = await problem_of(check, time_limit)
    if problem is None:
        return HealthAnswer(HTTPStatus.OK, "ok", {})
    return HealthAnswer(HTTPStatus.INTERNAL_SERVER_ERROR, f"internal server error: {problem}\n", {name: problem})


Handler: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.Response]]
Routes: TypeAlias = Mapping[str, Handler]


class Ports(NamedTuple):
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
    health_routes = {path: handler for endpoint in endpoints for path, handler in _routes(endpoint, on_problem).items()}
    metrics_routes = {"/metrics": _metrics_handler(exposition)}
    async with AsyncExitStack() as stack:

        def port(purpose: str, where: Listener | None, routes: Routes) -> int | None:
            if where is None:
                return None
            server = HttpServer(purpose, where, _router(routes), limits=limits, files=files, observer=observer)
            number = server.open()
            stack.push_async_callback(server.close)
            return number

        if health is not None and health == metrics and health.port:
            shared = port("health probes and metrics", health, health_routes | metrics_routes)
            yield Ports(shared, shared)
        else:
            yield Ports(port("health probes", health, health_routes), port("metrics", metrics, metrics_routes))


def _routes(endpoint: Endpoint, on_problem: Callable[[str, Mapping[str, str]], None]) -> Routes:
    """What is served at which path for an endpoint."""

    def route(judge: Callable[[web.BaseRequest], Awaitable[HealthAnswer]]) -> Handler:
        async def respond(request: web.BaseRequest) -> web.Response:
            answer = await judge(request)
            if answer.problems:
                on_problem(endpoint.name, answer.problems)
            return web.Response(status=answer.status, text=answer.text, headers=_HEADERS)

        return respond

    def judge_all(request: web.BaseRequest) -> Awaitable[HealthAnswer]:
        excluded = request.query.getall("exclude", [])
        return health_of(endpoint, excluded=excluded, verbose="verbose" in request.query)

    def judge_one(name: str, check: Check) -> Handler:
        return route(lambda _request: health_of_one(name, check))

    path = f"/{endpoint.name}"
    single = {f"{path}/{name}": judge_one(name, check) for name, check in endpoint.effective_checks.items()}
    return {path: route(judge_all), f"{path}/": route(judge_all), **single}


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
