"""What it costs to let thirty days pass for a thousand Secrets that ask for tokens."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.figures import Figure
from hedgerow.api.tokens import ACCOUNT_NAME, ACCOUNT_NAMESPACE, PURPOSE, TOKEN_REQUESTOR
from hedgerow.machinery.clusters import Cluster
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow_adapters.files.sources import LoadedObject, Source
from hedgerow_adapters.simulation.clusters import Happening
from hedgerow_adapters.simulation.planning import TimedSimulation
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from hedgerow_entrypoints.process.memory import search_seldom

SECRETS: Final = 1_000
DAYS: Final = 30
LONGEST: Final = 60.0
"""Seconds of processor time."""


def measure() -> Iterator[Figure]:
    """Processor time from files that are read to the end of the thirty days, and how much happens in these."""
    search_seldom()  # as the command does
    loop = CalendarLoop(datetime(2026, 1, 1, tzinfo=UTC))
    cluster, problems = seeded_cluster([_secret(number) for number in range(SECRETS)], now=loop.utc_now)
    if problems:
        raise AssertionError(f"the cluster refuses {problems[0]}")
    clusters = {Cluster.TARGET: cluster, Cluster.SOURCE: cluster}
    began = time.process_time()
    simulation = TimedSimulation(loop, clusters, [token_requestor()], timedelta(days=DAYS))
    failed = [each for each in simulation if not isinstance(each, Happening) or each.is_failure]
    took = time.process_time() - began
    if failed:
        raise AssertionError(f"of the renewals {len(failed)} fail")
    what = f"{DAYS} days of {SECRETS} tokens simulated"
    yield Figure.at_most(what, took, "s", LONGEST)
    yield Figure(f"{what}, turns", simulation.turns)


def _secret(number: int) -> LoadedObject:
    metadata: dict[str, Any] = {
        "name": f"token-{number}",
        "namespace": "default",
        "labels": {PURPOSE: TOKEN_REQUESTOR},
        "annotations": {ACCOUNT_NAME: f"account-{number}", ACCOUNT_NAMESPACE: "kube-system"},
    }
    return LoadedObject({"apiVersion": "v1", "kind": "Secret", "metadata": metadata}, Source("tokens.yaml", number))
