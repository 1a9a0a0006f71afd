"""The transport against servers that answer well, badly, or not at all, on loopback."""

import asyncio
import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.version import __version__
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.credentials import Connection, Credentials
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.protocol import json_codec, requests
from hedgerow_adapters.protocol.transport import NotSentError, Request, Response, TransportError
from tests.e2e.loopback_servers import CHUNKED, JSON, Handler, chunk, http_server, in_turn, raw_server

SERVICES = Resource("", "v1", "services", "Service")
LIST = requests.list_page(SERVICES)
WATCH = requests.watch(SERVICES, resource_version="1", timeout_seconds=60)
CREATE = requests.create(SERVICES, {"metadata": {"name": "cart"}}, "shop")


@pytest.fixture(params=[json_codec.standard(), json_codec.fastest()], ids=lambda codec: codec.name)
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> json_codec.Codec:
    """The process's codec, as it is without and with the optional one."""
    chosen: json_codec.Codec = request.param
    monkeypatch.setattr(json_codec, "encode", chosen.encode)
    monkeypatch.setattr(json_codec, "decode", chosen.decode)
    return chosen


async def send(server: str, request: Request = LIST, *, timeout: float = 10, **options: Any) -> Response:
    async with HttpTransport(Connection(server), **options) as transport:
        return await transport.send(request, timeout=timeout)


async def problem_of(server: str, request: Request = LIST, *, timeout: float = 10) -> str:
    with pytest.raises(TransportError) as caught:
        await send(server, request, timeout=timeout)
    return str(caught.value).replace(server, "SERVER")


# Requests.


async def test_a_request_arrives_as_it_was_made(codec: json_codec.Codec) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.method, request.path_qs, await request.text(), dict(request.headers)))
        return web.json_response({"kind": "Service"}, status=201, headers={"Audit-Id": "7"})

    sent = Request(
        "POST", "/api/v1/namespaces/shop/services", {"labelSelector": "a in (b, c),d=ü"}, {"größe": [1, None]}
    )
    async with http_server(handler) as server:
        connection = Connection(f"{server}/prefix", Credentials("Bearer x"))
        async with HttpTransport(connection) as transport:
            response = await transport.send(sent)

    [(method, path, body, headers)] = seen
    assert method == "POST"
    assert path == "/prefix/api/v1/namespaces/shop/services?labelSelector=a%20in%20%28b%2C%20c%29%2Cd%3D%C3%BC"
    assert body == '{"größe":[1,null]}'
    assert (headers["Authorization"], headers["User-Agent"]) == ("Bearer x", f"hedgerow/{__version__}")
    assert (headers["Accept"], headers["Content-Type"]) == ("application/json", "application/json")
    assert headers["Accept-Encoding"] == "identity"
    assert (response.status, response.body, response.headers["audit-id"]) == (201, {"kind": "Service"}, "7")


async def test_a_request_without_credentials_and_body_says_nothing_of_them() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response(sorted(name.lower() for name in request.headers))

    async with http_server(handler) as server:
        response = await send(server)

    assert response.body == ["accept", "accept-encoding", "host", "user-agent"]


async def test_a_body_of_two_mebibytes_arrives() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"size": len(await request.read())})

    async with http_server(handler) as server:
        response = await send(server, requests.create(SERVICES, {"data": "x" * 2**21}))

    assert response.body == {"size": 2**21 + len('{"data":""}')}


async def test_requests_one_after_the_other_share_a_connection() -> None:
    async def handler(request: web.Request) -> web.Response:
        assert request.transport is not None
        return web.json_response(request.transport.get_extra_info("peername")[1])

    async with http_server(handler) as server, HttpTransport(Connection(server)) as transport:
        ports = {(await transport.send(LIST)).body for _ in range(5)}

    assert len(ports) == 1


# Answers.


@pytest.mark.parametrize("status", [301, 404, 409, 422, 429, 500, 503])
async def test_every_status_is_an_answer(status: int) -> None:
    body = {"kind": "Status", "code": status}
    async with http_server(in_turn(web.json_response(body, status=status, headers={"Location": "/x"}))) as server:
        response = await send(server)

    assert (response.status, response.body, response.is_success) == (status, body, False)


async def test_a_throttled_request_is_sent_again_when_the_server_says() -> None:
    answers = [
        web.Response(status=429, text="too many requests", headers={"Retry-After": "0"}),
        web.json_response({}, status=503, headers={"Retry-After": "0"}),
        web.json_response({"kind": "ServiceList"}),
    ]
    codes: list[str] = []
    async with http_server(in_turn(*answers)) as server:
        response = await send(server, on_request=lambda code, _method, _host: codes.append(code))

    assert response.body == {"kind": "ServiceList"}
    assert codes == ["429", "503", "200"]


async def test_after_ten_retries_the_refusal_is_the_answer() -> None:
    codes: list[str] = []
    async with http_server(in_turn(web.json_response({}, status=429, headers={"Retry-After": "0"}))) as server:
        response = await send(server, on_request=lambda code, _method, _host: codes.append(code))

    assert response.status == 429
    assert codes == ["429"] * 11


async def test_a_refusal_is_the_answer_where_the_wait_would_be_longer_than_the_timeout() -> None:
    async with http_server(in_turn(web.json_response({}, status=429, headers={"Retry-After": "11"}))) as server:
        response = await send(server, timeout=10)

    assert (response.status, response.headers["retry-after"]) == (429, "11")


async def with_token_file(server: str, token: Path) -> Connection:
    document = {
        "clusters": [{"name": "garden", "cluster": {"server": server}}],
        "users": [{"name": "operator", "user": {"tokenFile": str(token)}}],
        "contexts": [{"name": "main", "context": {"cluster": "garden", "user": "operator"}}],
        "current-context": "main",
    }
    kubeconfig = token.with_name("kubeconfig")
    kubeconfig.write_text(json.dumps(document))
    return (await load_connection(kubeconfig)).unwrap()


async def test_a_refused_token_is_read_again_once(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    seen: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        token.write_text("new")
        return web.json_response({}, status=200 if seen[-1] == "Bearer new" else 401)

    async with (
        http_server(handler) as server,
        HttpTransport(await with_token_file(server, token)) as transport,
    ):
        first = await transport.send(LIST)
        async with transport.stream(WATCH, timeout=10) as second:
            statuses = (first.status, second.status)

    assert statuses == (200, 200)
    assert seen == ["Bearer old", "Bearer new", "Bearer new"]


async def test_a_refused_token_that_nobody_renewed_is_not_tried_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    codes: list[str] = []
    async with http_server(in_turn(web.json_response({}, status=401))) as server:
        connection = await with_token_file(server, token)
        async with HttpTransport(connection, on_request=lambda code, _method, _host: codes.append(code)) as transport:
            assert (await transport.send(LIST)).status == 401

    assert codes == ["401"]


# No answers.


async def test_nobody_at_the_address_is_one_sentence() -> None:
    server = f"http://127.0.0.1:{unused_port()}"

    assert await problem_of(server) == "cannot connect to SERVER: Connection refused"


async def test_a_host_without_an_address_is_one_sentence() -> None:
    problem = await problem_of("http://nowhere.invalid:6443")

    assert problem.startswith("cannot connect to SERVER: ")
    assert "Errno" not in problem


@pytest.mark.parametrize("host", ["a..b", "a" * 300])
async def test_a_host_that_is_no_name_is_one_sentence(host: str) -> None:
    assert await problem_of(f"http://{host}:6443") == "cannot connect to SERVER: its host is not a host name"


async def test_whatever_else_the_http_client_raises_is_one_sentence() -> None:
    said: list[str] = []
    async with HttpTransport(Connection("http://127.0.0.1:99999"), on_outage=said.append) as transport:
        for attempt in (transport.send(LIST), transport.stream(WATCH, timeout=10).__aenter__()):
            with pytest.raises(TransportError) as caught:
                await attempt
            assert str(caught.value) == (
                "the HTTP client is not able to carry GET /api/v1/services to http://127.0.0.1:99999"
            )

    assert len(said) == 1


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        pytest.param([], "SERVER closed the connection instead of answering {}", id="silence"),
        pytest.param([b"SSH-2.0-OpenSSH\r\n"], "the answer of SERVER to {} is not HTTP", id="another protocol"),
        pytest.param([JSON[:30]], "SERVER closed the connection instead of answering {}", id="cut in the headers"),
        pytest.param([JSON, b"Content-Length: 9\r\n\r\n{}"], "the answer of SERVER to {} was cut off", id="cut"),
        pytest.param([CHUNKED, chunk(b"{}")], "the answer of SERVER to {} was cut off", id="cut between chunks"),
        pytest.param([JSON, b"Content-Length: 2\r\n\r\n{]"], "the answer of SERVER to {} is not JSON", id="no json"),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"],
            "the answer of SERVER to {} is text/html, not JSON",
            id="a page",
        ),
    ],
)
@pytest.mark.parametrize(
    ("asking", "asked"), [(CREATE, "POST /api/v1/namespaces/shop/services"), (LIST, "GET /api/v1/services")]
)
async def test_an_answer_that_is_none_is_one_sentence(
    pieces: list[bytes], problem: str, asking: Request, asked: str
) -> None:
    async with raw_server(*pieces) as server:
        assert await problem_of(server, asking) == problem.format(asked)


@pytest.mark.parametrize("pieces", [[], [JSON[:30]], [CHUNKED, chunk(b"{")]], ids=["silence", "headers", "body"])
async def test_a_server_that_stops_answering_is_given_up_after_the_timeout(pieces: list[bytes]) -> None:
    async with raw_server(*pieces, hangs=True) as server:
        problem = await problem_of(server, CREATE, timeout=0.1)

    assert problem == "SERVER did not answer POST /api/v1/namespaces/shop/services completely within 0.1 s"


async def test_a_cancellation_in_the_moment_of_the_timeout_stays_one() -> None:
    arrived = asyncio.Event()

    async def never(_request: web.Request) -> web.Response:
        arrived.set()
        await asyncio.sleep(60)
        return web.Response()

    async with http_server(never) as server, HttpTransport(Connection(server)) as transport:
        sending = asyncio.create_task(transport.send(LIST, timeout=3))
        await arrived.wait()
        asyncio.get_running_loop().call_later(3, sending.cancel)
        time.sleep(3.1)  # noqa: ASYNC251 -- so that the loop finds both due at once, the timeout first

        with pytest.raises(asyncio.CancelledError):
            await sending


# Limits.


class Gate:
    """A server that keeps its requests waiting until as many are there as it was told to expect."""

    def __init__(self, expected: int) -> None:
        self.most = self._inside = 0
        self.somebody_came = asyncio.Event()
        self._expected = expected
        self._full = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            await self._full.wait()
            return response
        self.somebody_came.set()
        self._inside += 1
        self.most = max(self.most, self._inside)
        if self._inside == self._expected:
            self._full.set()
        await self._full.wait()
        self._inside -= 1
        return web.json_response({})


async def test_only_so_many_requests_are_under_way_at_once_and_watches_do_not_count() -> None:
    gate = Gate(expected=3)
    async with (
        http_server(gate.handle) as server,
        HttpTransport(Connection(server), max_in_flight=3) as transport,
        contextlib.AsyncExitStack() as watches,
    ):
        for _ in range(5):
            await watches.enter_async_context(transport.stream(WATCH, timeout=10))
        await asyncio.gather(*(transport.send(LIST) for _ in range(10)))

    assert gate.most == 3


async def test_a_request_that_finds_no_place_in_time_says_so() -> None:
    gate = Gate(expected=2)
    async with (
        http_server(gate.handle) as server,
        HttpTransport(Connection(server), max_in_flight=1) as transport,
    ):
        first = asyncio.create_task(transport.send(LIST))
        await gate.somebody_came.wait()
        with pytest.raises(TransportError) as caught:
            await transport.send(CREATE, timeout=0.1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first

    assert str(caught.value) == (
        f"POST /api/v1/namespaces/shop/services waited behind other requests to {server} for 0.1 s"
    )


async def test_a_rate_is_kept_where_one_is_set() -> None:
    clock = asyncio.get_running_loop().time
    async with (
        http_server(in_turn(web.json_response({}))) as server,
        HttpTransport(Connection(server), qps=50, burst=2) as transport,
    ):
        start = clock()
        await asyncio.gather(*(transport.send(LIST) for _ in range(7)))

        assert clock() - start >= (7 - 2) / 50


async def test_a_cancelled_request_leaves_its_place() -> None:
    gate = Gate(expected=2)
    async with (
        http_server(gate.handle) as server,
        HttpTransport(Connection(server), max_in_flight=1) as transport,
    ):
        first = asyncio.create_task(transport.send(LIST))
        await gate.somebody_came.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        # The server still counts the first one, so the second one opens the gate.
        assert (await transport.send(LIST)).status == 200


async def test_a_request_whose_turn_would_come_too_late_is_refused_at_once_and_costs_no_other_its_turn() -> None:
    async with (
        http_server(in_turn(web.json_response({}))) as server,
        HttpTransport(Connection(server), qps=2, burst=1) as transport,
    ):
        await transport.send(LIST)
        refusals = await asyncio.gather(
            *(transport.send(CREATE, timeout=0.1) for _ in range(100)), return_exceptions=True
        )
        assert (await transport.send(LIST, timeout=30)).status == 200

    assert {str(refusal) for refusal in refusals} == {
        f"POST /api/v1/namespaces/shop/services would wait behind other requests to {server} for more than 0.1 s"
    }


async def test_a_request_that_finds_no_place_gives_its_turn_back() -> None:
    gate = Gate(expected=2)
    async with (
        http_server(gate.handle) as server,
        HttpTransport(Connection(server), max_in_flight=1, qps=0.01, burst=2) as transport,
    ):
        first = asyncio.create_task(transport.send(LIST))
        await gate.somebody_came.wait()
        for _ in range(3):
            with pytest.raises(TransportError, match="waited behind other requests"):
                await transport.send(CREATE, timeout=0.05)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await transport.send(LIST)).status == 200


# Requests that are taken back before they leave.


class Lease:
    """A lease that is lost as soon as a server has seen so many requests."""

    def __init__(self, *, lost_after: int = 1) -> None:
        self.seen: list[str] = []
        self._lost_after = lost_after

    def is_held(self) -> bool:
        return len(self.seen) < self._lost_after

    def losing(self, answer: web.Response) -> Handler:
        """A server whose requests count."""
        handler = in_turn(answer)

        async def handle(request: web.Request) -> web.StreamResponse:
            self.seen.append(request.method)
            return await handler(request)

        return handle


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        pytest.param(web.json_response({}), {"qps": 20, "burst": 1}, id="for its turn"),
        pytest.param(web.json_response({}), {"max_in_flight": 1}, id="for a place"),
        pytest.param(web.Response(status=429, headers={"Retry-After": "0"}), {"max_in_flight": 1}, id="to be repeated"),
    ],
)
async def test_what_waits_when_the_lease_is_lost_never_leaves(answer: web.Response, options: dict[str, Any]) -> None:
    lease, codes, said = Lease(), list[str](), list[str]()
    async with http_server(lease.losing(answer)) as server:
        telling: dict[str, Any] = {
            "on_request": lambda code, _method, _host: codes.append(code),
            "on_outage": said.append,
        }
        async with HttpTransport(Connection(server), **telling, **options) as transport:
            sending = [transport.send(CREATE, may_send=lease.is_held) for _ in range(3)]
            outcomes = await asyncio.gather(*sending, return_exceptions=True)

    assert {str(outcome) for outcome in outcomes[1:]} == {"the request was taken back before it was sent"}
    assert isinstance(outcomes[0], Response if answer.status == 200 else NotSentError)
    assert lease.seen == ["POST"]
    assert codes == [str(answer.status)]
    assert said == []


async def test_a_refused_token_is_not_replaced_when_the_lease_is_lost(tmp_path: Path) -> None:
    token, lease = tmp_path / "token", Lease()
    token.write_text("old")
    answering = lease.losing(web.json_response({}, status=401))

    async def handler(request: web.Request) -> web.StreamResponse:
        token.write_text("new")
        return await answering(request)

    async with (
        http_server(handler) as server,
        HttpTransport(await with_token_file(server, token)) as transport,
    ):
        with pytest.raises(NotSentError):
            await transport.send(CREATE, may_send=lease.is_held)

    assert lease.seen == ["POST"]


# What is told to others.


async def test_every_exchange_is_counted() -> None:
    seen: list[tuple[str, str, str]] = []

    def count(code: str, method: str, host: str) -> None:
        seen.append((code, method, host))

    async with http_server(in_turn(web.json_response({}))) as server:
        host = server.removeprefix("http://")
        async with HttpTransport(Connection(server), on_request=count) as transport:
            await transport.send(CREATE)
            async with transport.stream(WATCH, timeout=10):
                pass
    nowhere = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(TransportError):
        await send(nowhere, requests.get(SERVICES, ObjectKey("shop", "cart")), on_request=count)

    assert seen == [
        ("200", "POST", host),
        ("200", "GET", host),
        ("<error>", "GET", nowhere.removeprefix("http://")),
    ]


async def test_an_outage_and_its_end_are_said_once() -> None:
    said: list[str] = []
    port = unused_port()
    transport = HttpTransport(
        Connection(f"http://127.0.0.1:{port}"), on_outage=said.append, on_recovery=lambda: said.append("back")
    )
    async with transport:
        failures = await asyncio.gather(*(transport.send(LIST) for _ in range(20)), return_exceptions=True)
        with pytest.raises(TransportError):
            async with transport.stream(WATCH, timeout=10):
                pass
        application = web.Application()
        application.router.add_get("/{path:.*}", in_turn(web.json_response({}, status=503)))
        async with TestServer(application, port=port):
            await asyncio.gather(*(transport.send(LIST) for _ in range(20)))

    assert all(isinstance(failure, TransportError) for failure in failures)
    assert said == [f"cannot connect to http://127.0.0.1:{port}: Connection refused", "back"]


async def test_an_answer_that_is_cut_off_is_no_outage() -> None:
    said: list[str] = []
    async with raw_server(JSON, b"Content-Length: 9\r\n\r\n{}") as server:
        with pytest.raises(TransportError):
            await send(server, on_outage=said.append)

    assert said == []


async def test_a_server_that_does_not_listen_on_its_first_address_is_reached_on_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = socket.getaddrinfo

    def both(host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
        if host != "both.example":
            return resolve(host, port, *arguments, **options)
        stream = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        return [(socket.AF_INET6, *stream, ("::1", port, 0, 0)), (socket.AF_INET, *stream, ("127.0.0.1", port))]

    async def handler(_request: web.Request) -> web.Response:
        return web.json_response({})

    monkeypatch.setattr(socket, "getaddrinfo", both)
    async with http_server(handler) as server:
        assert (await send(server.replace("127.0.0.1", "both.example"))).status == 200
