"""How many Deployments a second the high availability rules decide about, without any I/O."""

import statistics
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.deployment import deployment, namespace
from benchmarks.figures import Figure
from hedgerow.admission import Mutated, creation
from hedgerow.admission.config import HighAvailabilityConfig
from hedgerow.admission.high_availability import WorkloadFacts, decide
from hedgerow.api.kubernetes import DEPLOYMENTS

REVIEWS: Final = 5000
RUNS: Final = 9
CONFIG: Final = HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=60)


def measure() -> Iterator[Figure]:
    """Reviews per second of a Deployment that every rule changes, alone and with the patch, and of a settled one."""
    raw = deployment()
    decision = decide(creation(DEPLOYMENTS, raw), WorkloadFacts(namespace()), CONFIG)
    if not isinstance(decision, Mutated) or len(decision.mutations) != 4:  # noqa: PLR2004 -- one for each rule
        raise AssertionError(f"expected every rule to change the Deployment, got {decision}")
    what = "high-availability-config review of a Deployment"
    yield Figure.at_least(what, _rate(raw, with_patch=False), "reviews/s", 20_000)
    yield Figure(f"{what}, patch included", _rate(raw, with_patch=True), "reviews/s")
    yield Figure(f"{what} that is settled", _rate(decision.object, with_patch=False), "reviews/s")


def _rate(manifest: object, *, with_patch: bool) -> float:
    return statistics.median(_reviews_per_second(manifest, with_patch=with_patch) for _ in range(RUNS))


def _reviews_per_second(manifest: object, *, with_patch: bool) -> float:
    request, facts = creation(DEPLOYMENTS, manifest), WorkloadFacts(namespace())
    began = time.perf_counter()
    for _ in range(REVIEWS):
        decision = decide(request, facts, CONFIG)
        if with_patch and isinstance(decision, Mutated):
            _ = decision.patch
    return REVIEWS / (time.perf_counter() - began)
