"""What an admission server answers, whatever arrives."""

import asyncio
import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow.admission import Allowed, Denied
from hedgerow_adapters.admission.server import Limits
from tests.e2e.admission_server.clients import (
    PATH,
    Client,
    Complete,
    admission_server,
    ask_once,
    document,
    message,
    post,
)


async def test_a_change_is_answered_as_a_patch_under_the_uid_of_the_question(pair: Path) -> None:
    async with admission_server(pair) as running:
        status, answer = await ask_once(running.port, document(uid="7f-8"))

    assert status == 200
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert answer["response"]["uid"] == "7f-8"
    assert json.loads(base64.b64decode(answer["response"]["patch"])) == [
        {"op": "add", "path": "/stamp", "value": "cart"}
    ]
    assert running.heard.answers == [(PATH, 200)]


async def test_one_connection_carries_many_reviews_even_sent_ahead(pair: Path) -> None:
    bodies = [json.dumps(document(uid=str(number))).encode() for number in range(50)]
    async with admission_server(pair) as running, Client.of(running.port) as client:
        await client.send(b"".join(post(body) for body in bodies))
        answers = [json.loads((await client.response())[1]) for _ in bodies]

    assert [answer["response"]["uid"] for answer in answers] == [str(number) for number in range(50)]


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
async def test_json_is_json_with_parameters_too(pair: Path, content_type: str) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        request = post(json.dumps(document()).encode()).replace(b"application/json", content_type.encode())
        await client.send(request)
        _, text = await client.response()

    assert json.loads(text)["response"]["allowed"]


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/json-patch+json"])
async def test_another_content_type_is_denied_in_a_review(pair: Path, content_type: str) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        request = post(json.dumps(document(uid="9")).encode()).replace(b"application/json", content_type.encode())
        await client.send(request)
        status, text = await client.response()

    answer = json.loads(text)
    assert (status, answer["response"]["uid"]) == (200, "9")
    assert message(answer) == (False, 400, f"contentType={content_type}, expected application/json")


BAD_BODIES: dict[str, bytes] = {
    "empty": b"",
    "truncated": json.dumps(document()).encode()[:-9],
    "trailing garbage": json.dumps(document()).encode() + b"}",
    "no JSON": b"\x16\x03\x01",
    "invalid UTF-8": b'{"request": {"uid": "\xff"}}',
    "half a surrogate pair": b'{"request": {"uid": "\\ud800"}}',
    "NaN": b'{"request": {"uid": "1", "object": NaN}}',
    "infinity": b'{"request": {"uid": "1", "object": -Infinity}}',
    "nested without end": b'{"request": {"object": ' + b"[" * 200_000,
    "nested deeply": b'{"request": {"object": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "a list": b"[]",
    "null": b"null",
    "no request": b"{}",
    "a request of another type": b'{"request": []}',
    "another kind": b'{"apiVersion": "v1", "kind": "Pod"}',
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
async def test_a_body_that_is_no_review_is_denied_with_code_400(pair: Path, body: bytes) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        status, answer = await client.ask(body)
        still_works, _ = await client.ask(document())

    assert (status, still_works) == (200, 200)
    assert (answer["apiVersion"], message(answer)[:2]) == ("admission.k8s.io/v1", (False, 400))
    assert message(answer)[2]


async def test_a_compressed_body_is_not_unpacked(pair: Path) -> None:
    bomb = gzip.compress(json.dumps(document(note="x" * 2**22)).encode())
    async with admission_server(pair) as running:
        status, answer = await ask_once(running.port, bomb, "Content-Encoding: gzip")

    assert (status, message(answer)[:2]) == (200, (False, 400))


@pytest.mark.parametrize("uid", [7, None, True, [], {"a": 1}, ["x"]], ids=repr)
async def test_a_uid_of_another_type_is_none(pair: Path, uid: Any) -> None:
    async with admission_server(pair) as running:
        status, answer = await ask_once(running.port, document() | {"request": document()["request"] | {"uid": uid}})

    assert (status, answer["response"]["uid"]) == (200, "")
    assert answer["response"]["allowed"] is (uid is None)


async def test_of_members_that_come_twice_the_last_one_counts(pair: Path) -> None:
    text = json.dumps(document(uid="first", name="first"))[:-2] + ', "uid": "last", "name": "last"}}'

    async with admission_server(pair) as running:
        _, answer = await ask_once(running.port, text.encode())

    assert answer["response"]["uid"] == "last"
    assert json.loads(base64.b64decode(answer["response"]["patch"]))[0]["value"] == "last"


async def test_seven_mebibytes_are_reviewed_and_one_byte_more_is_refused(pair: Path) -> None:
    frame = json.dumps(document(uid="big", note="")).encode()
    most = frame.replace(b'"note": ""', b'"note": "' + b"x" * (7 * 2**20 - len(frame)) + b'"')
    assert len(most) == 7 * 2**20

    async with admission_server(pair) as running:
        assert (await ask_once(running.port, most))[0] == 200
        assert (await ask_once(running.port, most + b" "))[0] == 413
        async with Client.of(running.port) as client:
            chunks = b"".join(b"%x\r\n%s\r\n" % (2**20, b" " * 2**20) for _ in range(8)) + b"0\r\n\r\n"
            with_chunks = post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
            await client.send(with_chunks, chunks)
            assert (await client.response())[0] == 413
        assert (await ask_once(running.port, document()))[0] == 200
    assert [status for _, status in running.heard.answers] == [200, 413, 413, 200]


async def test_a_review_may_come_in_chunks_and_ask_whether_it_may_come(pair: Path) -> None:
    body = json.dumps(document(uid="c")).encode()
    async with admission_server(pair) as running, Client.of(running.port) as client:
        head = post(b"", "Expect: 100-continue").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        await client.send(head)
        assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        await client.send(*(b"1\r\n%c\r\n" % byte for byte in body), b"0\r\n\r\n")
        status, text = await client.response()

    assert (status, json.loads(text)["response"]["uid"]) == (200, "c")


async def test_where_there_is_no_webhook_nothing_is_found(pair: Path) -> None:
    async with admission_server(pair) as running:
        for path in ("/", "/webhooks", PATH + "/", "/webhooks/../secrets", "http://webhooks/x"):
            assert (await ask_once(running.port, document(), path=path))[0] == 404
        assert (await ask_once(running.port, document(), path=PATH + "?timeout=10s"))[0] == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
async def test_reviews_are_posted(pair: Path, method: str) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        await client.send(f"{method} {PATH} HTTP/1.1\r\nHost: webhooks\r\n\r\n".encode())
        head = await client.reader.readuntil(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nAllow: POST\r\n" in head


async def test_a_defect_denies_the_one_operation(pair: Path) -> None:
    def review(request: Any) -> Allowed:
        if request.name == "bad":
            raise KeyError("spec")
        return Allowed()

    async with admission_server(pair, review) as running, Client.of(running.port) as client:
        _, broken = await client.ask(document(uid="1", name="bad"))
        _, fine = await client.ask(document(uid="2"))

    assert message(broken) == (False, 500, "panic: 'spec' [recovered]")
    assert broken["response"]["uid"] == "1"
    assert fine["response"]["allowed"]
    assert running.heard.problems == ["KeyError('spec')"]


async def test_what_cannot_be_written_is_a_defect_too(pair: Path) -> None:
    def review(_request: Any) -> Denied:
        return Denied(422, "no", "Invalid", {"causes": {1, 2}})

    async with admission_server(pair, review) as running:
        status, answer = await ask_once(running.port, document(uid="5"))

    assert (status, answer["response"]["uid"], message(answer)[:2]) == (200, "5", (False, 500))


async def test_reviews_wait_for_caches_but_not_longer_than_the_api_server(pair: Path) -> None:
    view = Complete(complete=False)

    async with admission_server(pair, view=view) as running, asyncio.TaskGroup() as tasks:
        _, late = await ask_once(running.port, document(), path=PATH + "?timeout=50ms")
        patient = tasks.create_task(ask_once(running.port, document(uid="p")))
        view.is_complete.set()

    assert message(late) == (False, 500, "stamp waited 0.045 s for its caches to be complete")
    assert patient.result()[1]["response"]["allowed"]


async def test_readiness_is_whether_the_server_can_be_reached(pair: Path) -> None:
    async with admission_server(pair, limits=Limits(farewell=0.0, drain=0.1)) as running:
        assert await running.server.check() is None

    assert await running.server.check() == "webhook server has not been started yet"
    assert running.heard.handshakes_failed == 0


async def test_clients_are_not_told_what_the_server_is_made_of(pair: Path) -> None:
    async with admission_server(pair) as running, Client.of(running.port) as client:
        await client.send(post(json.dumps(document()).encode()))
        head = await client.reader.readuntil(b"\r\n\r\n")

    assert b"aiohttp" not in head.lower()
    assert b"python" not in head.lower()
