"""Health and progress of managed objects against what the reference wrote into the conditions of ManagedResources."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.objects import Kind, key_of, labels_of
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of
from hedgerow.resource_manager.health.verdicts import Observed, Verdict, evaluate_health, evaluate_progress
from tests.golden.reference.recordings import cases
from tests.unit.core.resource_manager.health.objects import existing

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("recording", [*cases("health.jsonl")])
def test_the_same_conditions_are_reported(recording: Mapping[str, Any]) -> None:
    observed = observed_in(recording)

    health = evaluate_health([observed]).with_events((), NOW)
    progress = evaluate_progress([observed])

    expected = {entry["type"]: contents(entry) for entry in recording["conditions"]}
    assert said(health) == expected["ResourcesHealthy"]
    assert said(progress) == expected["ResourcesProgressing"]


def observed_in(recording: Mapping[str, Any]) -> Observed:
    """The object, beside the number of pods that are its own."""
    live = recording["object"]
    if not counts_pods(Kind.of(live)):
        return existing(live)
    selector, namespace = pods_of(live), key_of(live).namespace
    assert selector is not None
    pods = [labels_of(pod) for pod in recording["pods"] if key_of(pod).namespace == namespace]
    return existing(live, pod_count=sum(map(selector.matches, pods)))


def said(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.status.value, verdict.reason, verdict.message


def contents(entry: Mapping[str, str]) -> tuple[str, str, str]:
    return entry["status"], entry["reason"], entry["message"]
