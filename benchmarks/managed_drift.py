"""Drift: somebody changes an object of a settled landscape by hand, and it is put right.

The time begins directly before the request that changes the object is sent, and ends when a watch of the measuring
client has brought the object as it was. Beside it the same without a process: the measuring client itself puts the
object right, with a request that it has prepared, as soon as its change is stored.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.figures import Figure, percentile
from benchmarks.launch import Command
from benchmarks.managed_cold import PER_NAMESPACE, SMALL
from benchmarks.managed_landscape import Landscape, cluster, merged
from benchmarks.managed_steady import settle
from benchmarks.managed_watch import ObjectWatch, Seen
from benchmarks.policy_watch import SlimConnection
from benchmarks.process import ResourceManager
from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.urls import Manifest, collection

SAMPLES: Final = 200
WARM_UP: Final = 10
PAUSE: Final = 0.03
"""Seconds between one change and the next, so that everybody is idle again."""
MILLISECONDS: Final = 1000
GOAL: Final = 50
AUTOSCALER: Final = "HorizontalPodAutoscaler"
KINDS: Final[Mapping[str, tuple[Manifest, tuple[str, str]]]] = {
    "ConfigMap": ({"data": {"setting": "changed by hand"}}, ("data", "setting")),
    "Deployment": ({"spec": {"replicas": 2}}, ("spec", "replicas")),
}
"""What is changed of which kind."""


def measure(command: Command, count: int = SMALL, samples: int = SAMPLES) -> Iterator[Figure]:
    """Medians and 99th percentiles of two kinds, with a process and without."""
    landscape = Landscape(count, count // PER_NAMESPACE, "drift")
    objects = {kind: _objects(landscape, kind) for kind in KINDS}
    with cluster() as plane:
        with _settled(command, plane, landscape):
            live = {kind: _sample(plane, objects[kind], samples, puts_right=False) for kind in KINDS}
        bare = {kind: _sample(plane, objects[kind], samples, puts_right=True) for kind in KINDS}
    for kind in KINDS:
        what = f"{landscape}: {kind} changed by hand to put right"
        yield Figure.at_most(f"{what}, p50", percentile(live[kind], 50), "ms", GOAL)
        yield Figure(f"{what}, p99", percentile(live[kind], 99), "ms")
        yield Figure(f"{what} by a bare client, p50", percentile(bare[kind], 50), "ms")


@contextmanager
def _settled(command: Command, plane: ControlPlane, landscape: Landscape) -> Iterator[None]:
    with ResourceManager.at_work(command, "managed-drift", plane, controllers=landscape.controllers) as process:
        settle(plane, process, landscape)
        yield
        process.require_running()


def _objects(landscape: Landscape, kind: str) -> list[Manifest]:
    """The objects of a kind that may be changed, and whose replicas are nobody else's."""
    deliveries = [each.objects for each in landscape.deliveries()]
    unscaled = [objects for objects in deliveries if AUTOSCALER not in {each["kind"] for each in objects}]
    return [each for objects in unscaled for each in objects if each["kind"] == kind and "immutable" not in each]


def _sample(plane: ControlPlane, objects: list[Manifest], samples: int, *, puts_right: bool) -> list[float]:
    """Milliseconds from a change until it is undone, one object after the other in turns."""
    client, kind = SlimConnection(plane), objects[0]["kind"]
    change, path = KINDS[kind]
    watch = ObjectWatch.from_now_on(plane, collection(objects[0]["apiVersion"], kind))
    latencies = []
    for number in range(WARM_UP + samples):
        each = objects[number % len(objects)]
        away, back = merged(each, change), merged(each, _only(each, path))
        time.sleep(PAUSE)
        began = time.perf_counter()
        client.send(away)
        if puts_right:
            client.send(back)
        watch.first_that(_shows(each, path, right=False))
        latencies.append((watch.first_that(_shows(each, path, right=True)) - began) * MILLISECONDS)
    return latencies[WARM_UP:]


def _shows(manifest: Manifest, path: tuple[str, str], *, right: bool) -> Callable[[Seen], bool]:
    """Whether an event tells that an object is as it should be, or that it is not."""

    def holds(seen: Seen) -> bool:
        same = all(seen.object["metadata"][name] == manifest["metadata"][name] for name in ("namespace", "name"))
        return same and (_at(seen.object, path) == _at(manifest, path)) is right

    return holds


def _at(manifest: Manifest, path: tuple[str, str]) -> Any:
    return manifest[path[0]].get(path[1])


def _only(manifest: Manifest, path: tuple[str, str]) -> Manifest:
    return {path[0]: {path[1]: _at(manifest, path)}}
