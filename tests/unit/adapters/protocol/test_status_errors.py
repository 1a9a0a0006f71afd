"""What an API server's refusals mean."""

from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Cause
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.responses import StatusError, error_of_status, missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, Response

SERVICES = Resource("", "v1", "services", "Service")
POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
USER = 'User "system:serviceaccount:garden:hedgerow"'
KINDS = (
    "already_exists",
    "is_conflict",
    "is_expired",
    "is_forbidden",
    "is_unproven_absence",
)


def status(code: int, reason: str = "", message: str = "no", **details: Any) -> Response:
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
    return Response(code, {**body, "details": details} if details else body)


def forbidden(message: str, **details: Any) -> StatusError:
    return status_error(status(403, "Forbidden", message, **details))


@pytest.mark.parametrize(
    ("response", "kinds"),
    [
        (status(400, "BadRequest"), set()),
        (status(401, "Unauthorized"), set()),
        (status(403, "Forbidden"), {"is_forbidden"}),
        (status(404, "NotFound"), {"is_unproven_absence"}),
        (status(404, "NotFound", name="cart"), set()),
        (status(409, "Conflict"), {"is_conflict"}),
        (status(409, "AlreadyExists"), {"already_exists"}),
        (status(410, "Expired"), {"is_expired"}),
        (status(410, "Gone"), {"is_expired"}),
        (status(422, "Invalid"), set()),
        (status(429, "TooManyRequests"), set()),
        (status(500, "InternalError"), set()),
        (status(504, "Timeout"), set()),
    ],
    ids=lambda value: value.body["reason"] if isinstance(value, Response) else "",
)
def test_a_refusal_is_of_one_kind(response: Response, kinds: set[str]) -> None:
    error = status_error(response)

    assert {kind for kind in KINDS if getattr(error, kind)} == kinds
    assert (error.status, error.reason, str(error)) == (response.status, response.body["reason"], "no")


@pytest.mark.parametrize(
    ("body", "reason", "message"),
    [
        ("404 page not found\n", "", "the answer 404 is no Status of an API server: 404 page not found"),
        (None, "", "the answer 404 is no Status of an API server: it is empty"),
        ({"kind": "Status"}, "", "the API server answered with status 404 and no message"),
        ([], "", "the answer 404 is no Status of an API server: it is empty"),
    ],
    ids=["text", "nothing", "an empty status", "something else"],
)
def test_a_404_without_a_status_of_an_api_server_proves_nothing(body: Any, reason: str, message: str) -> None:
    error = status_error(Response(404, body))

    assert (error.reason, error.message, error.is_unproven_absence) == (reason, message, True)
    assert not error.is_absence_of("cart")
    assert not error.is_absence_of("")


@pytest.mark.parametrize(
    ("response", "is_absence"),
    [
        (status(404, "NotFound", name="cart"), True),
        (status(404, "NotFound", name="shop"), False),
        (status(404, "NotFound"), False),
        (status(404, "Gone", name="cart"), False),
        (status(410, "NotFound", name="cart"), False),
    ],
    ids=["names it", "names another", "names nothing", "another reason", "another code"],
)
def test_an_object_is_absent_only_by_a_status_not_found_that_names_it(response: Response, *, is_absence: bool) -> None:
    assert status_error(response).is_absence_of("cart") == is_absence


def test_an_error_event_of_a_watch_is_understood_by_its_status() -> None:
    error = error_of_status({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"})

    assert error == StatusError(410, "Expired", "too old resource version")


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (requests.list_page(SERVICES), "missing permission: list services (all namespaces)"),
        (
            requests.watch(SERVICES, resource_version="1", timeout_seconds=1),
            "missing permission: watch services (all namespaces)",
        ),
        (requests.list_page(NAMESPACES), "missing permission: list namespaces"),
        (requests.list_page(NAMESPACES, name="shop"), "missing permission: list namespaces named shop"),
        (
            requests.create(POLICIES, {}, "shop"),
            "missing permission: create networkpolicies.networking.k8s.io in namespace shop",
        ),
        (
            requests.update(SERVICES, ObjectKey("shop", "cart"), {}, "status"),
            "missing permission: update services/status in namespace shop",
        ),
        (requests.get(NAMESPACES, ObjectKey("", "shop")), "missing permission: get namespaces"),
        (Request("GET", "/metrics"), "missing permission: get /metrics"),
    ],
)
def test_a_missing_permission_is_named_as_a_role_would_grant_it(request_: Request, sentence: str) -> None:
    error = forbidden(f'x is forbidden: {USER} cannot do resource "x" in API group "" in the namespace "shop"')

    assert error.is_missing_permission
    assert missing_permission(request_, error) == sentence


def test_a_path_that_no_role_opens_is_a_missing_permission() -> None:
    error = forbidden(f'forbidden: {USER} cannot get path "/metrics"')

    assert missing_permission(Request("GET", "/metrics"), error) == "missing permission: get /metrics"


@pytest.mark.parametrize(
    "message",
    [
        'pods "cart" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1',
        'admission webhook "a.example.com" denied the request: you cannot use resource "services" here',
        'pods "cart" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)',
    ],
    ids=["quota", "webhook", "pod security"],
)
def test_what_no_role_can_allow_keeps_the_servers_words(message: str) -> None:
    error = forbidden(message)

    assert not error.is_missing_permission
    assert missing_permission(requests.create(SERVICES, {}, "shop"), error) == message


def test_a_terminating_namespace_is_no_missing_permission() -> None:
    message = (
        'services "cart" is forbidden: unable to create new content in namespace shop because it is being terminated'
    )
    error = forbidden(
        message, causes=[{"reason": "NamespaceTerminating", "message": "...", "field": "metadata.namespace"}]
    )

    assert "NamespaceTerminating" in error.causes
    assert error.details == (Cause("NamespaceTerminating", "...", "metadata.namespace"),)
    assert missing_permission(requests.create(SERVICES, {}, "shop"), error) == message


def test_causes_without_a_reason_or_a_field_are_causes_as_well() -> None:
    status = {"kind": "Status", "code": 500, "details": {"causes": [{"message": "a webhook does not answer"}]}}

    error = error_of_status(status)

    assert error.details == (Cause("", "a webhook does not answer", ""),)
    assert error.causes == frozenset()


@pytest.mark.parametrize(
    "body",
    [
        {"code": "404"},
        {"reason": ["NotFound"]},
        {"message": {"text": "no"}},
        {"details": "no"},
        {"details": [{"name": "cart"}]},
        {"details": {"name": 5, "causes": {"reason": "no"}}},
        {"details": {"causes": ["no", {"reason": 7}]}},
    ],
    ids=str,
)
def test_a_status_of_another_shape_is_a_refusal_that_proves_nothing(body: dict[str, Any]) -> None:
    error = error_of_status({"kind": "Status", **body}, code=404)

    assert error.is_unproven_absence
    assert error.status == 404
    assert isinstance(error.message, str)
    assert error.causes == frozenset()
