"""What the answer to a request means for the election.

Decides from the request and the response alone; knows nothing of time or of who leads.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest, resource_version_of
from hedgerow_adapters.protocol.request_attributes import attributes_of
from hedgerow_adapters.protocol.status_errors import status_error
from hedgerow_adapters.protocol.transport import Request, Response

FORBIDDEN: Final = 403
CONFLICT: Final = 409


@dataclass(frozen=True, slots=True)
class Found:
    """The Lease as the API server holds it."""

    lease: Manifest


@dataclass(frozen=True, slots=True)
class Absent:
    """The API server says that there is no Lease of that name: a Status `NotFound` names it."""


@dataclass(frozen=True, slots=True)
class Written:
    """Our write was stored; the Lease as it is now."""

    lease: Manifest


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else wrote, created or deleted the Lease before us."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing is known: no answer came, or one that says neither yes nor no. A write may have been stored."""

    problem: str
    is_forbidden: bool = False
    """Whether the API server refused for want of rights, which trying again does not mend."""


LeaseReply: TypeAlias = Found | Absent | Written | Conflict | Failed


def _is_versioned_lease(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("spec", {}), dict) and bool(resource_version_of(body))


def _problem(response: Response) -> str:
    message = response.body.get("message") if isinstance(response.body, dict) else None
    return f"{message or 'no reason given'} (status code {response.status})"


def lease_reply_of(request: Request, response: Response) -> LeaseReply:
    """What an answer says: of a read, whether there is a Lease; of a write, whether it was stored."""
    is_read, is_update = request.method == "GET", request.method == "PUT"
    if response.is_success:
        if not _is_versioned_lease(response.body):
            return Failed("the answer is not a Lease with a resourceVersion")
        return Found(response.body) if is_read else Written(response.body)
    is_absence = status_error(response).is_absence_of(attributes_of(request).name)
    if is_absence and is_read:
        return Absent()
    if (response.status == CONFLICT and not is_read) or (is_absence and is_update):
        return Conflict()
    return Failed(_problem(response), is_forbidden=response.status == FORBIDDEN)
