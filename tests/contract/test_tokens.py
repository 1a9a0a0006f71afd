"""Tokens of ServiceAccounts: what is asked for, what is answered, and what is refused."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import NAMESPACES, causes, key, refusal
from tests.contract.targets import Send

SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")


@pytest.fixture
def robot(send: Send, namespace: str) -> Mapping[str, Any]:
    """A ServiceAccount."""
    created = send(requests.create(SERVICE_ACCOUNTS, {"metadata": {"name": "robot"}}, namespace))
    assert created.status == 201
    account: Mapping[str, Any] = created.body
    return account


def asked(send: Send, namespace: str, name: str = "robot", /, **request: Any) -> Response:
    """The answer to a request for a token."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", **request}
    return send(requests.create_beneath(SERVICE_ACCOUNTS, key(namespace, name), "token", body))


def claims(token: str) -> dict[str, Any]:
    """What a token says."""
    body = token.split(".")[1]
    said: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return said


def test_a_token_is_answered_with_its_expiration(send: Send, namespace: str, robot: Mapping[str, Any]) -> None:
    answer = asked(send, namespace, spec={"expirationSeconds": 43_200, "audiences": ["shoot", ""]})

    assert answer.status == 201
    metadata = answer.body["metadata"]
    assert {name: metadata[name] for name in ("name", "namespace", "uid")} == {
        "name": "robot",
        "namespace": namespace,
        "uid": robot["metadata"]["uid"],
    }
    assert answer.body["spec"] == {"expirationSeconds": 43_200, "audiences": ["shoot", ""], "boundObjectRef": None}
    asked_at, expires_at = (
        datetime.fromisoformat(written)
        for written in (metadata["creationTimestamp"], answer.body["status"]["expirationTimestamp"])
    )
    assert (expires_at - asked_at).total_seconds() == pytest.approx(43_200, abs=2)
    said = claims(answer.body["status"]["token"])
    assert (said["sub"], said["aud"]) == (f"system:serviceaccount:{namespace}:robot", ["shoot", ""])
    assert said["exp"] - said["iat"] == 43_200
    assert said["kubernetes.io"]["serviceaccount"] == {"name": "robot", "uid": robot["metadata"]["uid"]}


@pytest.mark.parametrize("request_fields", [{}, {"spec": {}}, {"spec": {"audiences": []}}])
@pytest.mark.usefixtures("robot")
def test_a_request_that_says_nothing_gets_an_hour_at_the_api_server(
    send: Send, namespace: str, request_fields: Mapping[str, Any]
) -> None:
    spec = asked(send, namespace, **request_fields).body["spec"]

    assert spec == {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 3600, "boundObjectRef": None}


@pytest.mark.usefixtures("robot")
def test_no_token_is_given_twice_and_none_is_kept(send: Send, namespace: str) -> None:
    account = requests.get(SERVICE_ACCOUNTS, key(namespace, "robot"))
    before = send(account)

    first, second = (asked(send, namespace, metadata={"name": "robot", "namespace": namespace}) for _ in range(2))

    assert first.body["status"]["token"] != second.body["status"]["token"]
    assert send(account) == before


@pytest.mark.parametrize("seconds", [0, -1, 599, (1 << 32) + 1])
@pytest.mark.usefixtures("robot")
def test_a_token_lives_no_less_than_ten_minutes_and_not_for_ever(send: Send, namespace: str, seconds: int) -> None:
    answer = asked(send, namespace, metadata={"name": "robot"}, spec={"expirationSeconds": seconds})

    limit = "less than 10 minutes" if seconds < 600 else "larger than 2^32 seconds"
    problem = f"spec.expirationSeconds: Invalid value: {seconds}: may not specify a duration {limit}"
    assert refusal(answer) == (422, "Invalid", f'TokenRequest.authentication.k8s.io "" is invalid: {problem}')
    assert answer.body["details"]["kind"] == "TokenRequest"


@pytest.mark.parametrize("seconds", [600, 1 << 32])
@pytest.mark.usefixtures("robot")
def test_the_limits_themselves_are_allowed(send: Send, namespace: str, seconds: int) -> None:
    assert asked(send, namespace, spec={"expirationSeconds": seconds}).status == 201


@pytest.mark.usefixtures("robot")
def test_a_request_speaks_of_the_serviceaccount_that_it_is_sent_to(send: Send, namespace: str) -> None:
    other_name = asked(send, namespace, metadata={"name": "other"})
    other_namespace = asked(send, namespace, metadata={"namespace": "other"})

    assert causes(other_name) == [("FieldValueInvalid", "metadata.name")]
    assert refusal(other_name)[2].startswith('TokenRequest.authentication.k8s.io "robot" is invalid: ')
    assert refusal(other_namespace)[:2] == (400, "BadRequest")


@pytest.mark.parametrize(("is_there", "missing"), [(True, "serviceaccounts"), (False, "namespaces")])
def test_nobody_who_is_missing_gets_a_token(send: Send, namespace: str, *, is_there: bool, missing: str) -> None:
    where = namespace if is_there else f"not-{namespace}"

    answer = asked(send, where, "nobody")

    name = "nobody" if is_there else where
    assert refusal(answer) == (404, "NotFound", f'{missing} "{name}" not found')


@pytest.mark.usefixtures("robot")
def test_a_namespace_that_terminates_gives_no_tokens(send: Send, namespace: str) -> None:
    held = {"metadata": {"name": "held", "finalizers": ["hedgerow.dev/hold"]}}
    send(requests.create(SERVICE_ACCOUNTS, held, namespace))
    send(requests.delete(NAMESPACES, key("", namespace)))

    assert refusal(asked(send, namespace))[:2] == (403, "Forbidden")


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1", "kind": "TokenRequest"},
        {"spec": {"expirationSeconds": "600"}},
        {"spec": {"audiences": "shoot"}},
    ],
)
@pytest.mark.usefixtures("robot")
def test_what_is_no_request_for_a_token_is_not_understood(send: Send, namespace: str, body: Mapping[str, Any]) -> None:
    answer = send(requests.create_beneath(SERVICE_ACCOUNTS, key(namespace, "robot"), "token", body))

    assert refusal(answer)[:2] == (400, "BadRequest")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
@pytest.mark.usefixtures("robot")
def test_tokens_are_only_ever_asked_for(send: Send, namespace: str, method: str) -> None:
    path = requests.object_path(SERVICE_ACCOUNTS, key(namespace, "robot"), "token")
    content_type = requests.MERGE_PATCH if method == "PATCH" else "application/json"

    answer = send(Request(method, path, {}, None if method == "GET" else {}, content_type))

    assert refusal(answer)[:2] == (405, "MethodNotAllowed")
