"""Whether a recorded AdmissionReview asks what an API server could ask: a cut one would otherwise pass unseen."""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.admission.request import CONNECT, CREATE, DELETE, UPDATE, AdmissionRequest
from hedgerow.machinery.failures import json_type

_OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT)


def problems(request: AdmissionRequest) -> Iterator[str]:
    """Everything by which a request betrays that no API server has sent it, each with its field.

    Source: Kubernetes API, AdmissionRequest of admission.k8s.io/v1.
    """
    yield from _missing("request.kind", request.kind._asdict())
    yield from _missing("request.resource", request.resource._asdict())
    if not request.operation:
        yield "request.operation: is missing"
    elif request.operation not in _OPERATIONS:
        yield f"request.operation: must be {', '.join(_OPERATIONS[:-1])} or {_OPERATIONS[-1]}"
    if request.operation in {CREATE, UPDATE}:
        yield from _no_object("request.object", request.object, required=True)
    if request.operation in {UPDATE, DELETE}:
        # Old API servers show nothing of what is deleted.
        yield from _no_object("request.oldObject", request.old_object, required=request.operation == UPDATE)


def _missing(field: str, parts: dict[str, str]) -> Iterator[str]:
    """The parts of a type that are empty; only the group may be, which is the core's then."""
    absent = [name for name, text in parts.items() if name != "group" and not text]
    if not any(parts.values()):
        yield f"{field}: is missing"
    else:
        yield from (f"{field}.{name}: is missing" for name in absent)


def _no_object(field: str, value: Any, *, required: bool) -> Iterator[str]:
    if value is None:
        if required:
            yield f"{field}: is missing"
    elif not isinstance(value, dict):
        yield f"{field}: expected an object, got {json_type(value)}"
