"""How many Deployments a second are merged with their live objects and compared with them, without any I/O.

The manifest leaves out what an API server fills in, as manifests do, and shares no value with the stored object: each
has been read from a text of its own.
"""

import copy
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.deployment import NAMESPACE, deployment
from benchmarks.figures import Figure
from hedgerow.api.managed_resources import MANAGED_BY
from hedgerow.resource_manager.managed_resources.merge.merging import (
    Instructions,
    LeaveObject,
    UpdateObject,
    application,
    merge,
)

MERGES: Final = 3000
RUNS: Final = 9
INSTRUCTIONS: Final = Instructions(f"{NAMESPACE}/control-plane", labels={MANAGED_BY: "gardener"})
FILLED_IN_POD: Final = ("dnsPolicy", "restartPolicy", "schedulerName", "terminationGracePeriodSeconds")
FILLED_IN_CONTAINER: Final = ("imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy")
FILLED_IN_PROBE: Final = ("failureThreshold", "periodSeconds", "successThreshold")


def measure() -> Iterator[Figure]:
    """Merge and comparison of a settled Deployment and of one that drifted, and the merge alone."""
    desired, live = manifest(), stored()
    drifted = copy.deepcopy(live)
    drifted["spec"]["template"]["spec"]["containers"][2]["command"][3] = "--changed-by-hand"
    _require(desired, live, LeaveObject)
    _require(desired, drifted, UpdateObject)
    what = "merge of a Deployment"
    yield Figure("size of the stored Deployment as JSON", len(json.dumps(live)) / 1024, "KiB")
    yield Figure.at_least(f"{what} and comparison, settled", _rate(desired, live), "merges/s", 10_000)
    yield Figure(f"{what} and comparison, drifted", _rate(desired, drifted), "merges/s")
    yield Figure(f"{what} alone", _rate(desired, live, with_comparison=False), "merges/s")


def manifest() -> dict[str, Any]:
    """The Deployment as a ManagedResource's Secret has it."""
    result = deployment()
    pod = result["spec"]["template"]["spec"]
    _leave_out(pod, FILLED_IN_POD)
    for container in pod["containers"]:
        _leave_out(container, FILLED_IN_CONTAINER)
        for probe in ("livenessProbe", "readinessProbe"):
            _leave_out(container[probe], FILLED_IN_PROBE)
    for volume in pod["volumes"]:
        _leave_out(volume["projected"], ("defaultMode",))
    return _read_anew(result)


def stored() -> dict[str, Any]:
    """The Deployment as an API server has it, rolled out."""
    written: Any = _read_anew(merge(deployment(), None, INSTRUCTIONS).unwrap())
    written["metadata"] |= {
        "uid": "00000000-0000-0000-0000-000000000000",
        "resourceVersion": "4711",
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    written["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2"
    written["status"] = {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}
    return dict(written)


def _leave_out(members: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        del members[name]


def _read_anew(value: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(value)))


def _require(desired: dict[str, Any], live: dict[str, Any], expected: type) -> None:
    found = application(desired, live, INSTRUCTIONS).unwrap()
    if not isinstance(found, expected):
        raise AssertionError(f"expected {expected.__name__}, got {found}")  # noqa: TRY004 -- a wrong result, not a wrong call


def _rate(desired: dict[str, Any], live: dict[str, Any], *, with_comparison: bool = True) -> float:
    work = application if with_comparison else merge
    return statistics.median(_merges_per_second(work, desired, live) for _ in range(RUNS))


def _merges_per_second(work: Any, desired: dict[str, Any], live: dict[str, Any]) -> float:
    began = time.perf_counter()
    for _ in range(MERGES):
        work(desired, live, INSTRUCTIONS)
    return MERGES / (time.perf_counter() - began)
