"""The Lease object: who holds it, for how long, what it says once somebody else writes it, and what answers say of it.

Knows nothing of monotonic time or of who leads: the times in a Lease are for people, nothing here decides by them.

Source: Kubernetes API reference, `coordination.k8s.io/v1`; managed-resources §4.3.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
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


def micro_time(moment: datetime) -> str:
    """A moment as the API writes it: RFC 3339 in UTC with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def held_by(identity: str, lease: Manifest | None, key: ObjectKey, *, duration: float, now: datetime) -> Manifest:
    """A Lease in the name of an identity: claimed if it was another's, renewed if it was its own, new if absent.

    Only a claim starts a new term: it sets the acquire time and counts a transition. Everything else of an existing
    Lease stays, its resourceVersion included, which makes it the precondition of the write.

    It lasts `duration` seconds, rounded up so that no replica takes it early; `now` is wall-clock time.
    """
    is_renewal = lease is not None and holder_of(lease) == identity
    spec: dict[str, Any] = {
        "holderIdentity": identity,
        "leaseDurationSeconds": math.ceil(duration),
        "renewTime": micro_time(now),
    }
    if not is_renewal:
        spec["acquireTime"] = micro_time(now)
        spec["leaseTransitions"] = 0 if lease is None else (_spec(lease).get("leaseTransitions") or 0) + 1
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


def lease_reply_of(request: Request, response: Response) -> LeaseReply:
    """What an answer says: of a read, whether there is a Lease; of a write, whether it was stored."""
    is_read, is_update = request.method == "GET", request.method == "PUT"
    body = response.body if isinstance(response.body, dict) else {}
    if response.is_success:
        if not resource_version_of(body) or not isinstance(body.get("spec", {}), dict):
            return Failed("the answer is not a Lease with a resourceVersion")
        return Found(body) if is_read else Written(body)
    is_absence = status_error(response).is_absence_of(attributes_of(request).name)
    if is_absence and is_read:
        return Absent()
    if (response.status == HTTPStatus.CONFLICT and not is_read) or (is_absence and is_update):
        return Conflict()
    problem = f"{body.get('message') or 'no reason given'} (status code {response.status})"
    return Failed(problem, is_forbidden=response.status == HTTPStatus.FORBIDDEN)
