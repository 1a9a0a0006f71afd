"""Two replicas under one Lease: one writes, the other takes over in time, and no write comes from who does not hold it.

What client-go's users know of an election, they find here: in the Lease, and in Events about it.
"""

import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest

from tests.e2e.gateways import HoldingGateway
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.replicas import LEASE, Record, Replica
from tests.e2e.resource_manager import errors_of
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

IN_FLIGHT = 32
FROZEN_FOR = 20.0
"""Seconds: longer than the lease lasts."""
LEASE_DURATION = timedelta(seconds=15)
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
HOST_AND_UUID = re.compile(r"[\w.-]+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def lease_of(sandbox: Sandbox) -> Manifest:
    spec: Manifest = sandbox.get("Lease", sandbox.home, LEASE)["spec"]
    return spec


@pytest.mark.slow
def test_a_leader_that_was_frozen_in_mid_work_for_longer_than_its_lease_writes_nothing_more_and_ends(
    sandbox: Sandbox, stack: ExitStack
) -> None:
    manifests = landscape(sandbox, shoots=10)
    settings = offline_settings(sandbox)
    record = Record(sandbox)
    gateway = stack.enter_context(HoldingGateway(sandbox.control_plane))
    leader = stack.enter_context(Replica(sandbox, "leader", network_policy=settings, gateway=gateway))
    leader.wait_until_leading()
    standby = stack.enter_context(Replica(sandbox, "standby", network_policy=settings))
    standby.wait_ready()
    expected = simulated(sandbox, manifests, standby.config_file)
    sandbox.create(*manifests)
    # Perhaps more: what the caches show meanwhile is no longer waited for, and makes room for others.
    leader.wait_for(lambda: gateway.held >= IN_FLIGHT, "has not as many requests under way as it may")

    leader.send_signal(signal.SIGSTOP)
    frozen_at = time.monotonic()
    sandbox.wait_for_policies(expected)
    standby.wait_for(lambda: time.monotonic() - frozen_at >= FROZEN_FOR, "has not outlasted the freeze")
    gateway.let_go()
    before = len(record.writes(leader.user))
    leader.send_signal(signal.SIGCONT)

    assert leader.wait() == 1
    reason = f"lost the lease {sandbox.home}/{LEASE}: it could not be renewed for 10 s"
    assert leader.why_it_failed() == reason
    standby.wait_until_idle()
    assert standby.terminate() == 0
    assert sandbox.policies() == expected
    assert len(record.writes(leader.user)) == before >= IN_FLIGHT
    assert record.writes(standby.user) != []
    assert record.writes_without_lease([leader.user, standby.user]) == []


@pytest.mark.slow
def test_another_takes_over_once_the_lease_has_run_out_after_a_crash_and_before_that_after_a_stop(
    sandbox: Sandbox, stack: ExitStack
) -> None:
    shop = sandbox.namespace("shop")
    record = Record(sandbox)
    first, second = Replica(sandbox, "first"), Replica(sandbox, "second")
    stack.enter_context(first).wait_until_leading()
    stack.enter_context(second).wait_ready()

    first.kill()
    second.wait_until_leading()
    third = stack.enter_context(Replica(sandbox, "third"))
    third.wait_for_line("Leader election")
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
    second.wait_until_idle()
    assert second.terminate() == 0
    third.wait_until_leading()
    assert third.terminate() == 0

    users = [first.user, second.user, third.user]
    leases = record.leases(users)
    taken = {lease.user: lease.moment for lease in reversed(leases)}
    held_until = {lease.user: lease.moment for lease in leases if lease.holder}
    assert taken[second.user] - held_until[first.user] >= LEASE_DURATION
    assert taken[third.user] - held_until[second.user] < LEASE_DURATION
    assert record.writes_without_lease(users) == []
    assert lease_of(sandbox)["leaseTransitions"] == 2
    assert errors_of([*second.log_lines(), *third.log_lines()]) == []


def test_a_leader_that_stops_in_mid_work_writes_nothing_after_it_gave_the_lease_back(
    sandbox: Sandbox, stack: ExitStack
) -> None:
    sandbox.create(*landscape(sandbox, shoots=10))
    record = Record(sandbox)
    settings = offline_settings(sandbox)
    leader = stack.enter_context(Replica(sandbox, "leader", network_policy=settings, source={"qps": 60, "burst": 1}))
    leader.wait_for(lambda: len(record.writes(leader.user)) > 10, "has not begun")

    assert leader.terminate() == 0

    assert record.leases([leader.user])[-1].holder == ""
    assert record.writes_without_lease([leader.user]) == []
    assert [line["what"] for line in leader.log_lines("Leader election")] == ["leading", "released"]


def test_the_lease_and_its_events_read_as_those_of_client_go(sandbox: Sandbox, stack: ExitStack) -> None:
    record = Record(sandbox)
    replicas = [Replica(sandbox, name) for name in ("first", "second")]
    for replica in replicas:
        stack.enter_context(replica).wait_until_leading()
        assert replica.terminate() == 0

    users = [replica.user for replica in replicas]
    versions = record.leases(users)
    holders = list(dict.fromkeys(lease.holder for lease in versions))
    terms = {holder: [lease.spec for lease in versions if lease.holder == holder] for holder in holders}
    free = terms.pop("")
    assert [bool(HOST_AND_UUID.fullmatch(holder)) for holder in terms] == [True, True]
    for transitions, term in enumerate(terms.values()):
        assert {(spec["leaseDurationSeconds"], spec["leaseTransitions"]) for spec in term} == {(15, transitions)}
        assert {spec["acquireTime"] for spec in term} == {term[0]["renewTime"]}
    assert [(spec["leaseDurationSeconds"], spec["leaseTransitions"]) for spec in free] == [(1, 0), (1, 1)]
    assert all(MICRO_TIME.fullmatch(lease.spec[time]) for lease in versions for time in ("acquireTime", "renewTime"))
    assert events_of_the_lease(sandbox) == [
        f"Normal LeaderElection {holder} {what}" for holder in terms for what in ("became leader", "stopped leading")
    ]


def events_of_the_lease(sandbox: Sandbox) -> list[str]:
    """What `kubectl describe lease` lists: the Events that name the very Lease, in the order of time."""
    uid = sandbox.get("Lease", sandbox.home, LEASE)["metadata"]["uid"]
    regarding = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "namespace": sandbox.home,
        "name": LEASE,
        "uid": uid,
    }
    events = [event for event in sandbox.objects("Event").values() if event["regarding"] == regarding]
    in_order = sorted(events, key=lambda event: event["eventTime"])
    return [f"{event['type']} {event['reason']} {event['note']}" for event in in_order]
