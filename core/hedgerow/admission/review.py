"""AdmissionReview documents of admission.k8s.io, v1 and v1beta1, which have one shape: read, answer, write.

Documents are parsed JSON.

Source: webhooks-and-tokens §3.2.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from returns.result import Failure, Result, Success

from hedgerow.admission.decision import OK, Allowed, Decision, Denied, Mutated, bad_request
from hedgerow.admission.request import AdmissionRequest, GroupVersionKind, GroupVersionResource
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.names import dns_label_problem

V1: Final = "admission.k8s.io/v1"
V1BETA1: Final = "admission.k8s.io/v1beta1"
VERSIONS: Final = (V1, V1BETA1)
KIND: Final = "AdmissionReview"

Encode: TypeAlias = Callable[[Any], bytes]
"""Writes a parsed value as compact JSON."""

_EXPECTED: Final[Mapping[type, str]] = {str: "a string", bool: "a boolean", dict: "an object"}
_Value = TypeVar("_Value", bound=str | bool | dict[str, Any])


@dataclass(frozen=True, slots=True)
class Review:
    """A request, and the version of its answer."""

    api_version: str
    request: AdmissionRequest

    @property
    def uid(self) -> str:
        """Of the request."""
        return self.request.uid


@dataclass(frozen=True, slots=True)
class BadReview:
    """Why a document holds no request, as one clause."""

    message: str
    uid: str = ""
    """Of the request, if it could be read."""
    api_version: str = V1
    """Of the answer; the one in the document cannot be trusted."""

    @property
    def decision(self) -> Denied:
        """The denial for this reason."""
        return bad_request(self.message)


class _UnreadableReviewError(Exception):
    """A field of a review has a wrong type or value; the text names it."""


def parse_review(document: Any) -> Result[Review, BadReview]:
    """The request in a parsed document of any shape, or why there is none.

    A missing or empty apiVersion or kind is read as v1. Unknown fields are ignored, absent and null ones are empty. The
    objects inside may be anything.

    Source: webhooks-and-tokens §3.2 (I-4).
    """
    if not isinstance(document, dict):
        return Failure(BadReview(f"expected an {KIND}, got {json_type(document)}"))
    try:
        return Success(_review(document))
    except _UnreadableReviewError as problem:
        return Failure(BadReview(str(problem), _uid(document)))


def _review(document: dict[str, Any]) -> Review:
    api_version = _member(document, "", "apiVersion", str) or V1
    kind = _member(document, "", "kind", str) or KIND
    if kind != KIND or api_version not in VERSIONS:
        raise _UnreadableReviewError(f"expected {KIND} of {V1} or {V1BETA1}, got {kind} of {api_version}")
    request = document.get("request")
    if request is None:
        raise _UnreadableReviewError("request: is missing")
    if not isinstance(request, dict):
        raise _UnreadableReviewError(f"request: expected an object, got {json_type(request)}")
    return Review(api_version, _request(request))


def _request(request: dict[str, Any]) -> AdmissionRequest:
    kind = _member(request, "request.", "kind", dict) or {}
    resource = _member(request, "request.", "resource", dict) or {}
    namespace = _text(request, "request.", "namespace")
    # A webhook may look the namespace up. API servers send no name that could lead to something else.
    if namespace and (problem := dns_label_problem(namespace)):
        raise _UnreadableReviewError(f"request.namespace: {problem}")
    return AdmissionRequest(
        kind=GroupVersionKind(*(_text(kind, "request.kind.", name) for name in GroupVersionKind._fields)),
        resource=GroupVersionResource(
            *(_text(resource, "request.resource.", name) for name in GroupVersionResource._fields)
        ),
        operation=_text(request, "request.", "operation"),
        namespace=namespace,
        name=_text(request, "request.", "name"),
        object=request.get("object"),
        old_object=request.get("oldObject"),
        subresource=_text(request, "request.", "subResource"),
        uid=_text(request, "request.", "uid"),
        dry_run=_member(request, "request.", "dryRun", bool) or False,
    )


def _text(container: dict[str, Any], prefix: str, name: str) -> str:
    return _member(container, prefix, name, str) or ""


def _member(container: dict[str, Any], prefix: str, name: str, expected: type[_Value]) -> _Value | None:
    """A member of a type; none where it is absent or null."""
    value = container.get(name)
    if value is not None and not isinstance(value, expected):
        raise _UnreadableReviewError(f"{prefix}{name}: expected {_EXPECTED[expected]}, got {json_type(value)}")
    return value


def _uid(document: dict[str, Any]) -> str:
    request = document.get("request")
    uid = request.get("uid") if isinstance(request, dict) else None
    return uid if isinstance(uid, str) else ""


def answer(api_version: str, uid: str, decision: Decision, encode: Encode) -> dict[str, Any]:
    """The document that answers a request; without a change it holds no patch.

    Args:
        api_version: of the answer.
        uid: of the request.
        decision: about it.
        encode: writes the patch.

    Source: webhooks-and-tokens §3.2, §3.3.
    """
    response = _denial(decision) if isinstance(decision, Denied) else _permission(decision, encode)
    return {"apiVersion": api_version, "kind": KIND, "response": {"uid": uid, **response}}


def _permission(decision: Allowed | Mutated, encode: Encode) -> dict[str, Any]:
    status: dict[str, Any] = {"code": OK}
    response = {"allowed": True, "status": status}
    if isinstance(decision, Allowed):
        if decision.message:
            status["message"] = decision.message
    elif patch := decision.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(encode(patch)).decode("ascii")
    return response


def _denial(decision: Denied) -> dict[str, Any]:
    status: dict[str, Any] = {"status": "Failure", "code": decision.code, "message": decision.message}
    if decision.reason:
        status["reason"] = decision.reason
    if decision.details:
        status["details"] = dict(decision.details)
    return {"allowed": False, "status": status}
