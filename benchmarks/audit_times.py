"""When objects were created, as the API server's audit log has it: exact, and without any request for it."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tests.control_plane import ControlPlane


class Creation(NamedTuple):
    """One request that created an object; times are seconds of Unix time."""

    received: float
    stored: float
    """When the answer was complete, which is directly after etcd has the object."""
    resource: str


def creations(plane: ControlPlane, *, since: int) -> list[Creation]:
    """Every creation after a position in the log, in the order in which the requests came."""
    return sorted(_creations(plane, since))


def writes(plane: ControlPlane, *, since: int) -> int:
    """How many requests have changed anything but a lease after a position in the log; a dry run changes nothing."""
    events = plane.audit_events(verbs={"create", "update", "patch", "delete", "deletecollection"}, since=since)
    return sum(
        event["objectRef"]["resource"] != "leases" and "dryRun=All" not in event["requestURI"] for event in events
    )


def _creations(plane: ControlPlane, since: int) -> Iterator[Creation]:
    for event in plane.audit_events(verbs={"create"}, since=since):
        received, stored = (
            datetime.fromisoformat(event[name]).timestamp() for name in ("requestReceivedTimestamp", "stageTimestamp")
        )
        yield Creation(received, stored, event["objectRef"]["resource"])
