"""The Status objects by which the API server refuses, worded as it words them.

Source: Kubernetes documentation, "Kubernetes API concepts"; the contract suite compares them with a real server.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.memory.field_errors import FieldError
from hedgerow_adapters.protocol.transport import Response

_MODIFIED: Final = "the object has been modified; please apply your changes to the latest version and try again"


class RefusedError(Exception):
    """A request is not carried out; the response says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.body["message"])
        self.response = response


def status_body(
    code: int, reason: str, message: str, details: Mapping[str, Any] | None = None, *, continuation: str = ""
) -> dict[str, Any]:
    """The Status of a failure."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {"continue": continuation} if continuation else {},
        "status": "Failure",
        "message": message,
        "reason": reason or None,
        "details": details,
        "code": code,
    }
    return {name: value for name, value in body.items() if value is not None}


def refused(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> RefusedError:
    """A refusal with any code and reason."""
    return RefusedError(Response(code, status_body(code, reason, message, details)))


def details_of(resource: Resource, name: str, *, kind: str | None = None, **more: Any) -> dict[str, Any]:
    """The object that a Status speaks of; `kind` is the plural unless given."""
    details = {"name": name, "group": resource.group, "kind": kind or resource.plural, **more}
    return {key: value for key, value in details.items() if value}


def not_found(resource: Resource, name: str) -> RefusedError:
    """The refusal for an object that does not exist."""
    return refused(404, "NotFound", f'{resource} "{name}" not found', details_of(resource, name))


def no_such_path() -> RefusedError:
    """The refusal for a path that leads to no resource."""
    return refused(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> RefusedError:
    """The refusal for a verb that the resource does not have there."""
    return refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(resource: Resource, name: str, *, deleting: bool) -> RefusedError:
    """The refusal to create an object a second time."""
    state = "object is being deleted: " if deleting else ""
    return refused(409, "AlreadyExists", f'{state}{resource} "{name}" already exists', details_of(resource, name))


def conflict(resource: Resource, name: str, problem: str = _MODIFIED) -> RefusedError:
    """The refusal for an object that is no longer what the request was made for."""
    message = f'Operation cannot be fulfilled on {resource} "{name}": {problem}'
    return refused(409, "Conflict", message, details_of(resource, name))


def precondition_failed(resource: Resource, name: str, problem: str) -> RefusedError:
    """The refusal of a deletion whose precondition does not hold; it names the kind where others name the plural."""
    message = f'Operation cannot be fulfilled on {_group_kind(resource)} "{name}": {problem}'
    return refused(409, "Conflict", message, details_of(resource, name, kind=resource.kind))


def bad_request(message: str) -> RefusedError:
    """The refusal of a request that makes no sense by itself."""
    return refused(400, "BadRequest", message)


def internal(message: str) -> RefusedError:
    """The refusal that the server gives without a reason, as for a resource version that is no number."""
    return refused(500, "", message)


def internal_error(problem: str) -> RefusedError:
    """The refusal because of something that went wrong inside of the server, or between it and a webhook."""
    details = {"causes": [{"message": problem}]}
    return refused(500, "InternalError", f"Internal error occurred: {problem}", details)


def forbidden(resource: Resource, name: str, problem: str, *, cause: Mapping[str, str] | None = None) -> RefusedError:
    """The refusal by admission."""
    details = details_of(resource, name, causes=[cause] if cause else None)
    return refused(403, "Forbidden", f'{resource} "{name}" is forbidden: {problem}', details)


def invalid(resource: Resource, name: str, errors: Sequence[FieldError]) -> RefusedError:
    """The refusal of an object with bad fields."""
    return _unprocessable(_group_kind(resource), details_of(resource, name, kind=resource.kind), name, errors)


def version_required(resource: Resource, name: str) -> RefusedError:
    """The refusal of an update without a resourceVersion, for kinds that insist on one."""
    detail = "Invalid value: 0: must be specified for an update"
    error = FieldError("FieldValueInvalid", "metadata.resourceVersion", detail)
    return _unprocessable(str(resource), details_of(resource, name), name, (error,))


def invalid_options(kind: str, error: FieldError) -> RefusedError:
    """The refusal of bad ListOptions or DeleteOptions."""
    return _unprocessable(f"{kind}.meta.k8s.io", {"group": "meta.k8s.io", "kind": kind}, "", (error,))


def unusable_patch(*errors: FieldError) -> RefusedError:
    """The refusal of a patch that does not apply, or whose result is no object of its kind."""
    if errors:
        return _unprocessable("", {}, "", errors)
    return refused(422, "Invalid", "the server rejected our request due to an error in our request", {})


def deleted(resource: Resource, name: str, uid: str) -> dict[str, Any]:
    """The Status that reports a completed deletion."""
    details = details_of(resource, name, uid=uid)
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _group_kind(resource: Resource) -> str:
    return f"{resource.kind}.{resource.group}" if resource.group else resource.kind


def _unprocessable(subject: str, details: Mapping[str, Any], name: str, errors: Sequence[FieldError]) -> RefusedError:
    texts = list(dict.fromkeys(map(str, errors)))
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    causes = [{"reason": error.reason, "message": error.message, "field": error.field} for error in errors]
    return refused(422, "Invalid", f'{subject} "{name}" is invalid: {listed}', {**details, "causes": causes})
