"""The Lease object: who holds it, for how long, and what it says once somebody else writes it.

Knows nothing of monotonic time: the times in a Lease are for people, nothing here decides by them.

Source: Kubernetes API reference, `coordination.k8s.io/v1`; managed-resources §4.3.
"""

import math
from datetime import UTC, datetime
from typing import Any, Final

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.objects import Manifest, ObjectKey

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
