"""What an API server's responses say: why it refused, and what became of a write."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, is_terminating
from hedgerow.machinery.plan import Action, ApiError, Cause, Create, Delete
from hedgerow.machinery.questions import NOT_FOUND, NotAnswered
from hedgerow_adapters.protocol.transport import Request, Response, attributes_of

_REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Gone",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_RBAC_DENIAL: Final = re.compile(r'User ".*" cannot \S+ (resource|path) "')


@dataclass(frozen=True, slots=True)
class StatusError:
    """Why a request failed, from the Status in the answer."""

    status: int
    reason: str
    """The server's CamelCase reason, or the usual one of the status where the server gave none; empty if unusual."""
    message: str
    """The server's words; never empty."""
    details: tuple[Cause, ...] = ()
    """What the server names as the causes, field by field perhaps."""
    name: str = field(default="", compare=False)
    """The object that it is about; empty where the server names none."""

    def __str__(self) -> str:
        return self.message

    @property
    def causes(self) -> frozenset[str]:
        """The CamelCase reasons of the details, such as `NamespaceTerminating`."""
        return frozenset(cause.reason for cause in self.details if cause.reason)

    @property
    def is_unproven_absence(self) -> bool:
        """True if a 404 names no object, as of a gateway: only discovery tells whether the resource is served."""
        return self.status == HTTPStatus.NOT_FOUND and not (self.reason == NOT_FOUND and self.name)

    def is_absence_of(self, name: str) -> bool:
        """True if the server says that the object of this name does not exist: a Status `NotFound` that names it."""
        return self.status == HTTPStatus.NOT_FOUND and self.reason == NOT_FOUND and self.name == name != ""

    @property
    def is_conflict(self) -> bool:
        """True if the object has changed since: it has another version or uid."""
        return self.status == HTTPStatus.CONFLICT and self.reason == "Conflict"

    @property
    def already_exists(self) -> bool:
        """Whether there is an object of that name already."""
        return self.reason == "AlreadyExists"

    @property
    def is_forbidden(self) -> bool:
        """Whether the server knows who asks, and does not allow it."""
        return self.status == HTTPStatus.FORBIDDEN

    @property
    def is_missing_permission(self) -> bool:
        """Whether a role could allow it: admission, quota and the like forbid for other reasons."""
        return self.is_forbidden and _RBAC_DENIAL.search(self.message) is not None

    @property
    def is_expired(self) -> bool:
        """Whether a resource version or a continue token is too old."""
        return self.status == HTTPStatus.GONE


def status_error(response: Response) -> StatusError:
    """What an answer means that is no success; its body is a Status, or the text of a proxy or filter."""
    return error_of_status(response.body, code=response.status)


def error_of_status(body: Any, *, code: int = 500) -> StatusError:
    """What a Status object means, such as that of a watch's ERROR event; one without a code has the given one.

    Anything else counts as a Status that says nothing, a text as its message.
    """
    status: Mapping[str, Any] = body if isinstance(body, dict) and body.get("kind") == "Status" else {}
    text = body.strip() if isinstance(body, str) else ""
    details, stated = status.get("details"), status.get("code")
    details = details if isinstance(details, Mapping) else {}
    causes = details["causes"] if isinstance(details.get("causes"), list) else []
    code = stated if isinstance(stated, int) and stated else code
    words = text or f"the API server answered with status {code} and no message"
    if code == HTTPStatus.NOT_FOUND and not status:
        words = f"the answer 404 is no Status of an API server: {text or 'it is empty'}"
    return StatusError(
        status=code,
        reason=_text(status, "reason") or _REASONS.get(code, ""),
        message=_text(status, "message") or words,
        details=tuple(
            Cause(*(_text(cause, member) for member in Cause._fields)) for cause in causes if isinstance(cause, Mapping)
        ),
        name=_text(details, "name"),
    )


def _text(members: Mapping[str, Any], name: str) -> str:
    """A member; empty where it is no text, as nothing but an API server keeps to the shape of a Status."""
    value = members.get(name)
    return value if isinstance(value, str) else ""


def missing_permission(request: Request, error: StatusError) -> str:
    """What a role has to allow so that a forbidden request may pass; the server's words where no role can help."""
    if not error.is_missing_permission:
        return error.message
    asked = attributes_of(request)
    where = f" in namespace {asked.namespace}" if asked.namespace else ""
    everywhere = " (all namespaces)" if asked.spans_namespaces else ""
    named = f" named {asked.name}" if asked.name and asked.verb in {"list", "watch"} else ""
    return f"missing permission: {asked.verb} {asked.resource}{named}{where}{everywhere}"


def stored_by(action: Action, response: Response) -> Manifest | None:
    """The stored object after a successful action; none if it is gone, or the answer lacks it."""
    body = response.body
    if not isinstance(body, Mapping):
        return None
    # Some kinds are answered with the object although it is gone: only the mark says that it is still there.
    is_gone = isinstance(action, Delete) and (body.get("kind") == "Status" or not is_terminating(body))
    return None if is_gone else body


def is_done_already(action: Action, error: StatusError) -> bool:
    """True if the error says that there is nothing left to do."""
    return isinstance(action, Delete) and error.is_absence_of(action.key.name)


def api_error_of(action: Action, error: StatusError) -> ApiError:
    """The error for decisions: `NotFound` only if proven; that of a creation may name the namespace."""
    is_creation = isinstance(action, Create) and not action.subresource
    is_unproven = error.is_unproven_absence if is_creation else _lacks_proof(error, action.key.name)
    return ApiError(error.status, "" if is_unproven else error.reason, error.message, error.details)


def not_answered(error: StatusError, name: str = "") -> NotAnswered:
    """The failed read for decisions: it has the reason `NotFound` only if that is proven of the object of a name."""
    return NotAnswered(error.status, "" if _lacks_proof(error, name) else error.reason, error.message)


def _lacks_proof(error: StatusError, name: str) -> bool:
    return error.status == HTTPStatus.NOT_FOUND and not error.is_absence_of(name)
