"""Which changes of objects are worth another look."""

from typing import Any

import pytest

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Kind, Manifest
from hedgerow.resource_manager.health.object_health import health_status_changed
from hedgerow.resource_manager.health.object_progress import progress_changed
from tests.unit.core.resource_manager.health.objects import condition, deployment, live, pod, skipped

RUNNING, PENDING, FAILED = (pod(phase, resourceVersion=phase) for phase in ("Running", "Pending", "Failed"))
CONFIG_MAPS = [live("v1", "ConfigMap", resourceVersion=version) for version in ("1", "2")]


def health_passes(old: Manifest | None, new: Manifest | None) -> bool:
    kind = Kind.of(new or old or {})
    return health_status_changed(kind)(Change(old, new))


def test_what_only_has_to_be_there_passes_when_it_comes_and_goes_and_at_a_resync() -> None:  # HS-1
    one, two = CONFIG_MAPS

    assert health_passes(None, one)
    assert health_passes(one, None)
    assert health_passes(one, one)
    assert not health_passes(one, two)


@pytest.mark.parametrize(
    ("old", "new", "passes"),
    [
        (RUNNING, PENDING, True),
        (PENDING, RUNNING, True),
        (PENDING, FAILED, False),
        (FAILED, {**PENDING, "status": 5}, False),
        (RUNNING, {**PENDING, "status": 5}, True),
        (RUNNING, pod("Succeeded", resourceVersion="2"), False),
    ],
)
def test_an_update_passes_if_health_changed(
    old: Manifest,
    new: Manifest,
    passes: bool,  # noqa: FBT001 -- a column of the table
) -> None:  # HS-2
    assert health_passes(old, new) is passes


def test_what_is_exempt_passes_at_a_resync_alone() -> None:  # HS-3 HS-4
    exempt = skipped(PENDING)

    assert not health_passes(None, exempt)
    assert not health_passes(exempt, None)
    assert not health_passes(exempt, RUNNING)
    assert not health_passes(RUNNING, exempt)
    assert health_passes(exempt, exempt)


def test_another_object_of_the_same_name_is_a_deletion_and_a_creation() -> None:
    one, two = (live("v1", "ConfigMap", uid=uid, resourceVersion=uid) for uid in "12")

    assert health_passes(one, two)
    assert health_passes(skipped(one), two)
    assert not health_passes(skipped(one), skipped(two))


COMPLETE = deployment(condition("Progressing", "True", "NewReplicaSetAvailable"), resourceVersion="1")
ROLLING = deployment(condition("Progressing", "True", "ReplicaSetUpdated"), resourceVersion="2")


def progress_passes(old: Manifest | None, new: Manifest | None) -> bool:
    return progress_changed(Kind.of(new or old or {}))(Change(old, new))


def test_progress_is_looked_at_when_something_is_updated() -> None:  # PR-12 PR-13
    assert not progress_passes(None, ROLLING)
    assert not progress_passes(ROLLING, None)
    assert progress_passes(ROLLING, ROLLING)
    assert progress_passes(RUNNING, RUNNING)


def newer(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": "3"}}


@pytest.mark.parametrize(
    ("old", "new", "passes"),
    [
        (ROLLING, newer(ROLLING), False),
        (COMPLETE, newer(COMPLETE), False),
        (ROLLING, COMPLETE, True),
        (COMPLETE, ROLLING, True),
        (skipped(ROLLING), COMPLETE, False),
        (COMPLETE, skipped(ROLLING), False),
        (ROLLING, skipped(COMPLETE), True),
        (RUNNING, PENDING, False),
    ],
)
def test_an_update_passes_if_progress_changed(
    old: Manifest,
    new: Manifest,
    passes: bool,  # noqa: FBT001 -- a column of the table
) -> None:  # PR-14
    assert progress_passes(old, new) is passes
