"""The result of an action, from the API server's answer to its request.

Pure: decides from the action and the answer alone.
"""

from collections.abc import Mapping
from http import HTTPStatus

from hedgerow.machinery.objects import Manifest, is_terminating
from hedgerow.machinery.plan import Action, ApiError, Create, Delete, WriteResult
from hedgerow.machinery.questions import NotAnswered
from hedgerow_adapters.protocol.status_errors import StatusError, status_error
from hedgerow_adapters.protocol.transport import Response


def write_result_of(action: Action, response: Response) -> WriteResult:
    """The result of an action; the deletion of an object that is gone succeeds."""
    if response.is_success:
        return WriteResult(action, stored_by(action, response))
    error = status_error(response)
    return (
        WriteResult(action)
        if is_done_already(action, error)
        else WriteResult(action, error=api_error_of(action, error))
    )


def stored_by(action: Action, response: Response) -> Manifest | None:
    """The stored object after a successful action; none if it is gone, or the answer lacks it."""
    body = response.body
    if not isinstance(body, Mapping):
        return None
    if isinstance(action, Delete) and (body.get("kind") == "Status" or not is_terminating(body)):
        # Some kinds are answered with the object although it is gone: only the mark says that it is still there.
        return None
    return body


def is_done_already(action: Action, error: StatusError) -> bool:
    """True if the error says that there is nothing left to do."""
    return isinstance(action, Delete) and error.is_absence_of(action.key.name)


def api_error_of(action: Action, error: StatusError) -> ApiError:
    """The error for decisions: it has the reason `NotFound` only if that is proven."""
    reason = "" if _is_unproven(action, error) else error.reason
    return ApiError(error.status, reason, error.message, error.details)


def not_answered(error: StatusError, name: str = "") -> NotAnswered:
    """The failed read for decisions: it has the reason `NotFound` only if that is proven.

    Args:
        error: the server's error.
        name: of the object that was read; empty: a list or something else was.
    """
    is_unproven = error.status == HTTPStatus.NOT_FOUND and not error.is_absence_of(name)
    return NotAnswered(error.status, "" if is_unproven else error.reason, error.message)


def _is_unproven(action: Action, error: StatusError) -> bool:
    """True if the error suggests that the object does not exist, without proof.

    The error of a creation may name the namespace.
    """
    if isinstance(action, Create) and not action.subresource:
        return error.is_unproven_absence
    return error.status == HTTPStatus.NOT_FOUND and not error.is_absence_of(action.key.name)
