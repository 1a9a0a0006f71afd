"""The Lease object."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow_adapters.leader_election.lease import duration_of, held_by, holder_of, micro_time, released

KEY = ObjectKey("garden", "hedgerow")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
EARLIER = "2024-05-01T11:00:00.000000Z"


def lease(holder: str) -> Manifest:
    return {
        "metadata": {"name": "hedgerow", "namespace": "garden", "resourceVersion": "7", "labels": {"a": "b"}},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "acquireTime": EARLIER,
            "renewTime": EARLIER,
            "leaseTransitions": 3,
            "strategy": "OldestEmulationVersion",
        },
    }


def test_a_new_lease_names_its_holder_and_starts_without_transitions() -> None:
    assert held_by("us", None, KEY, duration=15, now=NOON) == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": "garden", "name": "hedgerow"},
        "spec": {
            "holderIdentity": "us",
            "leaseDurationSeconds": 15,
            "acquireTime": "2024-05-01T12:00:00.000000Z",
            "renewTime": "2024-05-01T12:00:00.000000Z",
            "leaseTransitions": 0,
        },
    }


def test_a_claim_starts_a_term_and_keeps_what_it_does_not_know() -> None:
    claimed = held_by("us", lease("them"), KEY, duration=20, now=NOON)

    assert claimed["metadata"] == lease("them")["metadata"]
    assert claimed["spec"] == {
        "holderIdentity": "us",
        "leaseDurationSeconds": 20,
        "acquireTime": "2024-05-01T12:00:00.000000Z",
        "renewTime": "2024-05-01T12:00:00.000000Z",
        "leaseTransitions": 4,
        "strategy": "OldestEmulationVersion",
    }


def test_a_renewal_changes_the_renew_time_alone() -> None:
    renewed = held_by("us", lease("us"), KEY, duration=15, now=NOON)

    assert renewed == {
        **lease("us"),
        "spec": {**lease("us")["spec"], "renewTime": "2024-05-01T12:00:00.000000Z"},
    }


def test_a_released_lease_names_nobody_and_lasts_a_second() -> None:
    given_back = released(lease("us"), now=NOON)

    assert holder_of(given_back) == ""
    assert duration_of(given_back, default=15) == 1
    assert given_back["spec"]["leaseTransitions"] == 3
    assert given_back["spec"]["acquireTime"] == given_back["spec"]["renewTime"] == "2024-05-01T12:00:00.000000Z"
    assert given_back["metadata"]["resourceVersion"] == "7"


def test_a_fraction_of_a_second_rounds_the_promise_up() -> None:
    assert held_by("us", None, KEY, duration=15.2, now=NOON)["spec"]["leaseDurationSeconds"] == 16


@pytest.mark.parametrize("seconds", [None, 0], ids=["none", "zero"])
def test_a_lease_that_promises_no_duration_has_the_default(seconds: int | None) -> None:
    assert duration_of({"spec": {"leaseDurationSeconds": seconds}}, default=15) == 15


def test_times_are_written_in_utc_with_microseconds() -> None:
    in_berlin = datetime(2024, 5, 1, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))

    assert micro_time(in_berlin) == "2024-05-01T12:00:00.000005Z"
