"""Live latency: an idle process, one new Service, and the time until both its policies are stored.

The time begins directly before the request that creates the Service is sent, and ends when a watch of the measuring
client has brought the second policy; both are more than the process can answer for. So the samples are told once more
as the API server's audit log has them, and the same is measured with a client in the process's place that knows the
policies beforehand and posts both, each on a connection of its own, as soon as the Service is stored.

Every Service is deleted again before the next, so that the cluster keeps its size.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

from benchmarks.audit_times import creations
from benchmarks.cluster import (
    LARGE,
    POLICIES_PER_SERVICE,
    SMALL,
    Size,
    cluster,
    policies_of,
    service,
    wait_for_calm,
    wait_for_policies,
)
from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.policy_watch import PolicyWatch, SlimConnection
from benchmarks.prepared import Prepared, creation, deletion
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane

SAMPLES: Final = 500
WARM_UP: Final = 20
PAUSE: Final = 0.015
"""Seconds between a change and the next, so that everybody is idle again."""
IDLE: Final = 1.0
MILLISECONDS: Final = 1000

Reaction = Callable[[Sequence[Prepared]], object]


class Latencies(NamedTuple):
    """Milliseconds of every sample."""

    seen: list[float]
    """Until the measuring client's watch brought the second policy."""
    stored: list[float]
    """Between the Service's arrival at the API server and the moment when the second policy was stored."""


def measure(command: Command, small: Size = SMALL, large: Size = LARGE, samples: int = SAMPLES) -> Iterator[Figure]:
    """Medians and 99th percentiles in clusters of both sizes."""
    yield from _figures(command, small, samples, (6, 20))
    yield from _figures(command, large, samples, (8, None))


def _figures(command: Command, size: Size, samples: int, goals: tuple[float | None, float | None]) -> Iterator[Figure]:
    with cluster(size) as plane:
        with ResourceManager.at_work(command, f"live-{size.services}", plane) as process:
            wait_for_policies(plane, size.policies, still=process.require_running)
            wait_for_calm(plane, IDLE)
            watch = PolicyWatch.from_now_on(plane)
            live = _sample(plane, watch, size, samples, react=lambda _requests: None)
        connections = [SlimConnection(plane) for _ in range(POLICIES_PER_SERVICE)]
        with ThreadPoolExecutor(len(connections)) as pool:
            send = partial(pool.map, SlimConnection.send, connections)
            bare = _sample(plane, watch, size, samples, react=lambda requests: list(send(requests)))
    for percent, goal in zip((50, 99), goals, strict=True):
        what, value = f"{size}: new Service to both policies seen, p{percent}", percentile(live.seen, percent)
        yield Figure(what, value, "ms") if goal is None else Figure.at_most(what, value, "ms", goal)
    for what, values in (
        ("new Service to both policies stored, by the audit log", live.stored),
        ("bare client that knows the policies, seen", bare.seen),
        ("bare client that knows the policies, stored", bare.stored),
    ):
        for percent in (50, 99):
            yield Figure(f"{size}: {what}, p{percent}", percentile(values, percent), "ms")


def _sample(plane: ControlPlane, watch: PolicyWatch, size: Size, samples: int, react: Reaction) -> Latencies:
    """Create and delete Services one by one; what is to be done about a Service is passed to the reaction."""
    client, since, seen = SlimConnection(plane), plane.audit_position(), []
    for number in range(WARM_UP + samples):
        manifest = service(f"live-{number}", size.namespace(number))
        policies = policies_of(manifest)
        names = {policy["metadata"]["name"] for policy in policies}
        appear, reaction = creation(manifest), [creation(policy) for policy in policies]
        time.sleep(PAUSE)
        began = time.perf_counter()
        client.send(appear)
        react(reaction)
        seen.append(watch.all_are("ADDED", names) - began)
        time.sleep(PAUSE)
        client.send(deletion(manifest))
        react([deletion(policy) for policy in policies])
        watch.all_are("DELETED", names)
    wait_for_calm(plane)
    return Latencies(_settled(seen), _settled(_stored(plane, since)))


def _stored(plane: ControlPlane, since: int) -> list[float]:
    """Seconds between each Service and the last policy before the next."""
    began, latencies = 0.0, []
    for made in creations(plane, since=since):
        if made.resource == "services":
            began = made.received
            latencies.append(0.0)
        elif made.resource == "networkpolicies":
            latencies[-1] = max(latencies[-1], made.stored - began)
    return latencies


def _settled(latencies: Sequence[float]) -> list[float]:
    return [latency * MILLISECONDS for latency in latencies[WARM_UP:]]
