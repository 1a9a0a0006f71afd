"""AdmissionReview documents of admission.k8s.io, v1 and v1beta1, which have one shape: read, answer, write.

Documents are parsed JSON.

Source: webhooks-and-tokens §3.2 (I-4), §3.3.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.admission.request import AdmissionRequest, GroupVersionKind, GroupVersionResource
from hedgerow.admission.webhook import OK, Allowed, Decision, Denied, Mutated, bad_request
from hedgerow.machinery.failures import Problem, json_type
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.reading import UnreadableError, boolean_at, object_at, text_at

V1: Final = "admission.k8s.io/v1"
V1BETA1: Final = "admission.k8s.io/v1beta1"
VERSIONS: Final = (V1, V1BETA1)
KIND: Final = "AdmissionReview"

LONGEST_WARNING: Final = 256
MOST_WARNINGS: Final = 4096
"""Of all warnings together, in characters, beyond which API servers cut and leave out."""

Encode: TypeAlias = Callable[[Any], bytes]
"""Writes a parsed value as compact JSON."""


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


def parse_review(document: Any) -> Result[Review, BadReview]:
    """The request in a parsed document of any shape, or why there is none.

    A missing or empty apiVersion or kind is read as v1. Unknown fields are ignored, absent and null ones are empty. The
    objects inside may be anything.
    """
    if not isinstance(document, dict):
        return Failure(BadReview(f"expected an {KIND}, got {json_type(document)}"))
    try:
        return Success(_review(document))
    except UnreadableError as error:
        return Failure(BadReview(str(error.problem), _uid(document)))


def _review(document: dict[str, Any]) -> Review:
    api_version = text_at(document, "apiVersion") or V1
    kind = text_at(document, "kind") or KIND
    if kind != KIND or api_version not in VERSIONS:
        problem = f"expected {KIND} of {V1} or {V1BETA1}, got {kind} of {api_version}"
        raise UnreadableError(Problem("", problem))
    request = object_at(document, "request")
    if document.get("request") is None:
        raise UnreadableError(Problem("request", "is missing"))
    try:
        return Review(api_version, _request(request))
    except UnreadableError as error:
        raise error.below("request") from error


def _request(request: Mapping[str, Any]) -> AdmissionRequest:
    namespace = text_at(request, "namespace") or ""
    # A webhook may look the namespace up. API servers send no name that could lead to something else.
    if namespace and (problem := dns_label_problem(namespace)):
        raise UnreadableError(Problem("namespace", problem))
    return AdmissionRequest(
        kind=GroupVersionKind(*_texts_below(request, "kind", GroupVersionKind._fields)),
        resource=GroupVersionResource(*_texts_below(request, "resource", GroupVersionResource._fields)),
        operation=text_at(request, "operation") or "",
        namespace=namespace,
        name=text_at(request, "name") or "",
        object=request.get("object"),
        old_object=request.get("oldObject"),
        subresource=text_at(request, "subResource") or "",
        uid=text_at(request, "uid") or "",
        dry_run=boolean_at(request, "dryRun") or False,
    )


def _texts_below(request: Mapping[str, Any], field: str, names: Iterable[str]) -> list[str]:
    holder = object_at(request, field)
    try:
        return [text_at(holder, name) or "" for name in names]
    except UnreadableError as error:
        raise error.below(field) from error


def _uid(document: dict[str, Any]) -> str:
    request = document.get("request")
    uid = request.get("uid") if isinstance(request, dict) else None
    return uid if isinstance(uid, str) else ""


def answer(api_version: str, uid: str, decision: Decision, encode: Encode) -> dict[str, Any]:
    """The document that answers the request with a `uid`; without a change it holds no patch, which `encode` writes."""
    response = _denial(decision) if isinstance(decision, Denied) else _permission(decision, encode)
    return {"apiVersion": api_version, "kind": KIND, "response": {"uid": uid, **response}}


def _permission(decision: Allowed | Mutated, encode: Encode) -> dict[str, Any]:
    status: dict[str, Any] = {"code": OK}
    response = {"allowed": True, "status": status}
    if warnings := [*_warnings(decision.warnings)]:
        response["warnings"] = warnings
    if isinstance(decision, Allowed):
        if decision.message:
            status["message"] = decision.message
    elif patch := decision.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(encode(patch)).decode("ascii")
    return response


def _warnings(texts: Iterable[str]) -> Iterator[str]:
    """Each text once, as far as an API server passes it on: it drops one with control characters, and has limits.

    Source: Kubernetes, "Dynamic Admission Control", Response; k8s.io/apiserver, WithWarningRecorder.
    """
    room = MOST_WARNINGS
    for text in dict.fromkeys(" ".join(_printable(each).split()) for each in texts):
        shown = text if len(text) <= LONGEST_WARNING else f"{text[: LONGEST_WARNING - 1]}…"
        room -= len(shown)
        if room < 0:
            return
        if shown:
            yield shown


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _denial(decision: Denied) -> dict[str, Any]:
    status: dict[str, Any] = {"status": "Failure", "code": decision.code, "message": decision.message}
    if decision.reason:
        status["reason"] = decision.reason
    if decision.details:
        status["details"] = dict(decision.details)
    return {"allowed": False, "status": status}
