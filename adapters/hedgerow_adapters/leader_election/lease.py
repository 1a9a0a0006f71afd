"""The Lease object: who holds it, for how long, what it says once somebody else writes it, and what answers say of it.

Knows nothing of monotonic time or of who leads: the times in a Lease are for people, nothing here decides by them.

Source: Kubernetes API reference, `coordination.k8s.io/v1`; managed-resources §4.3.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.objects import Manifest, ObjectKey, resource_version_of
from hedgerow_adapters.protocol.responses import status_error
from hedgerow_adapters.protocol.transport import Request, Response, attributes_of

RELEASED_DURATION: Final = 1
"""Seconds a released Lease claims to last: those who overlook the empty holder wait no longer than that."""


def _spec(lease: Manifest) -> Manifest:
    return lease.get("spec") or {}


def holder_of(lease: Manifest) -> str:
    """Identity of who holds a Lease; empty: nobody."""
    return _spec(lease).get("holderIdentity") or ""


def duration_of(lease: Manifest, default: float) -> float:
    """Seconds without a change after which a Lease has run out, as its holder promised; the default if it did not."""
    seconds = _spec(lease).get("leaseDurationSeconds")
    return float(seconds) if seconds else default


def has_same_spec(one: Manifest, other: Manifest) -> bool:
    """True if no holder wrote the Lease between the two; each write of a holder changes the spec's times."""
    return _spec(one) == _spec(other)


def transitions_of(lease: Manifest) -> int:
    """How often a Lease went from one holder to another."""
    return _spec(lease).get("leaseTransitions") or 0


def micro_time(moment: datetime) -> str:
    """A moment as the API writes it: RFC 3339 in UTC with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def held_by(identity: str, lease: Manifest | None, key: ObjectKey, *, duration: float, now: datetime) -> Manifest:
    """A Lease in the name of an identity: claimed if it was another's, renewed if it was its own, new if absent.

    Only a claim starts a new term: it sets the acquire time and counts a transition. Everything else of an existing
    Lease stays, its resourceVersion included, which makes it the precondition of the write.

    Args:
        identity: the new holder.
        lease: the Lease as it was last seen; none: there is none.
        key: its namespace and name.
        duration: seconds that it is to last, written rounded up so that nobody takes it early.
        now: wall-clock time.
    """
    is_renewal = lease is not None and holder_of(lease) == identity
    spec: dict[str, Any] = {
        "holderIdentity": identity,
        "leaseDurationSeconds": math.ceil(duration),
        "renewTime": micro_time(now),
    }
    if not is_renewal:
        spec["acquireTime"] = micro_time(now)
        spec["leaseTransitions"] = 0 if lease is None else transitions_of(lease) + 1
    if lease is None:
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"namespace": key.namespace, "name": key.name},
            "spec": spec,
        }
    return {**lease, "spec": {**_spec(lease), **spec}}


def released(lease: Manifest, *, now: datetime) -> Manifest:
    """A Lease that its holder gave back: nobody holds it, and its next holder counts as a transition."""
    return {
        **lease,
        "spec": {
            **_spec(lease),
            "holderIdentity": "",
            "leaseDurationSeconds": RELEASED_DURATION,
            "acquireTime": micro_time(now),
            "renewTime": micro_time(now),
        },
    }


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
