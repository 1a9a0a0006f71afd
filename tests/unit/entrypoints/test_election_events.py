"""What people are told of an election, on virtual time: in Events about the Lease, in the metric, and in the log."""

import asyncio
import io
import json
from datetime import timedelta
from functools import partial

from hedgerow.api.kubernetes import EVENTS, LEASES
from hedgerow.machinery.configuration.process import LeaderElection
from hedgerow.machinery.objects import Manifest, ObjectKey, uid_of
from hedgerow_adapters.leader_election.elector import LeaderElector, LeadershipLostError
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, MemoryTransport
from hedgerow_adapters.memory import requests as asking
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.telemetry.logs import configure_logs
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_entrypoints.process.election_events import ElectionEvents
from tests.virtual_clock import virtual_time

LEASE = ObjectKey("default", "hedgerow")
SETTINGS = LeaderElection(
    leader_elect=True,
    lease_duration=timedelta(seconds=15),
    renew_deadline=timedelta(seconds=10),
    retry_period=timedelta(seconds=2),
    resource_lock="leases",
    resource_name=LEASE.name,
    resource_namespace=LEASE.namespace,
)
DENIED = Response(403, {"message": "no rights"})


def told(lines: io.StringIO) -> list[str]:
    """What was said of the election."""
    return [line["what"] for line in map(json.loads, lines.getvalue().splitlines())]


class Process:
    """A candidate at work, and what is to be seen of it."""

    def __init__(self, cluster: InMemoryCluster, identity: str = "us") -> None:
        self.cluster = cluster
        self.metrics = RuntimeMetrics()
        self.election_events = ElectionEvents(
            "resource-manager",
            identity,
            SETTINGS,
            partial(LeaderElector, MemoryTransport(cluster)),
            events=MemoryTransport(cluster),
            metrics=self.metrics,
            on_refusal=lambda _problem: None,
        )
        self.election = asyncio.create_task(self.election_events.elector.run())
        self.recording = asyncio.create_task(self.election_events.recorder.run())

    def leads(self) -> bool:
        return b'leader_election_master_status{name="hedgerow"} 1.0' in self.metrics.exposition()

    def events(self) -> list[Manifest]:
        return list(self.cluster.objects(EVENTS))

    def notes(self) -> list[str]:
        return sorted(event["note"] for event in self.events())


@virtual_time
async def test_a_new_leader_is_announced_at_the_lease() -> None:
    process = Process(InMemoryCluster())
    assert not process.leads()

    assert await process.election_events.elector.wait_until_leading()
    await process.election_events.recorder.emptied()

    (event,) = process.events()
    (lease,) = process.cluster.objects(LEASES)
    assert (event["type"], event["reason"], event["note"]) == ("Normal", "LeaderElection", "us became leader")
    assert (event["regarding"]["kind"], event["regarding"]["uid"]) == ("Lease", uid_of(lease))
    assert process.leads()
    process.recording.cancel()
    process.election.cancel()


@virtual_time
async def test_a_leader_that_stops_is_announced_while_it_may_still_write() -> None:
    process = Process(InMemoryCluster())
    assert await process.election_events.elector.wait_until_leading()

    process.election_events.resign()
    await process.election_events.recorder.emptied()
    await process.election_events.elector.release()

    assert process.notes() == ["us became leader", "us stopped leading"]
    assert not process.leads()
    process.recording.cancel()


@virtual_time
async def test_who_never_led_gives_nothing_back() -> None:
    lines = io.StringIO()
    configure_logs("info", "json", lines)
    cluster = InMemoryCluster()
    leader = Process(cluster)
    assert await leader.election_events.elector.wait_until_leading()
    candidate = Process(cluster, identity="them")
    await asyncio.sleep(5)

    await candidate.election_events.elector.release()

    assert told(lines) == ["leading", "new leader"]
    for each in (leader.recording, leader.election, candidate.recording):
        each.cancel()


@virtual_time
async def test_who_lost_the_lease_or_never_held_it_announces_nothing() -> None:
    process = Process(InMemoryCluster())
    process.election_events.resign()
    assert await process.election_events.elector.wait_until_leading()
    usurped = {"spec": {"holderIdentity": "them"}}
    await MemoryTransport(process.cluster).send(requests.merge_patch(LEASES, LEASE, usurped))
    await asyncio.wait([process.election])

    process.election_events.resign()
    await process.election_events.recorder.emptied()

    assert process.notes() == ["us became leader"]
    assert not process.leads()
    assert isinstance(process.election.exception(), LeadershipLostError)
    process.recording.cancel()


@virtual_time
async def test_a_renewal_that_fails_is_told_each_time_that_it_begins_to_and_so_is_its_end() -> None:
    lines = io.StringIO()
    configure_logs("info", "json", lines)
    process = Process(InMemoryCluster())
    assert await process.election_events.elector.wait_until_leading()
    for _ in range(3):
        await asyncio.sleep(100)
        process.cluster.faults = [Fault(asking("PUT", "leases"), Answered(DENIED), times=2)]
    await asyncio.sleep(100)

    assert told(lines) == ["leading", *["forbidden", "recovered"] * 3]
    assert process.leads()
    process.recording.cancel()
    process.election.cancel()


@virtual_time
async def test_rights_that_are_missing_for_long_are_told_again_every_ten_minutes() -> None:
    lines = io.StringIO()
    configure_logs("info", "json", lines)
    cluster = InMemoryCluster()
    cluster.faults = [Fault(asking("POST", "leases"), Answered(DENIED), times=None)]
    process = Process(cluster)
    await asyncio.sleep(1790)

    assert told(lines) == ["forbidden"] * 3
    process.recording.cancel()
    process.election.cancel()
