"""The Lease by which Gardener sees that an extension is alive."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.api.kubernetes import LEASES
from hedgerow.extensions.heartbeat import LEASE, HeartbeatConfig, heartbeat, lease_spec, reconcile
from hedgerow.machinery.controller import SINGLETON, Context
from hedgerow.machinery.manifests import snapshot_of
from hedgerow.machinery.plan import ApiError, Create, MergePatch, Plan, WriteResult
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import Now, Step
from tests.executions import executed

CONFIG = HeartbeatConfig("shoot-rsyslog-relp", "extension", timedelta(seconds=30))
NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ABSENT = NotAnswered(404, "NotFound", "not found")
ERROR = ApiError(500, "InternalError", "boom")


def lease(**spec: Any) -> Found:
    return Found(({"metadata": {"namespace": "extension", "name": LEASE}, "spec": spec},))


def beat(answer: Found | NotAnswered, error: ApiError | None = None) -> tuple[Plan, list[Any]]:
    """The plan of a turn, and what was written."""
    replies = {ObjectQuestion: answer, Now: NOW}

    def perform(step: Step[Any]) -> Any:
        return replies.get(type(step)) or WriteResult(step, error=error)  # type: ignore[arg-type]  # an action

    snapshot = snapshot_of(heartbeat(CONFIG), ()).unwrap()
    plan, steps = executed(reconcile(SINGLETON, snapshot, Context(NOW, CONFIG)), perform)
    return plan, [step for step in steps if isinstance(step, Create | MergePatch)]


def test_the_spec_says_who_is_alive_and_since_when() -> None:
    assert lease_spec("shoot-rsyslog-relp", timedelta(seconds=30), NOW) == {
        "holderIdentity": "shoot-rsyslog-relp",
        "leaseDurationSeconds": 30,
        "renewTime": "2026-01-02T03:04:05.678901Z",
    }


def test_a_lease_that_is_missing_is_created() -> None:
    plan, (write,) = beat(ABSENT)

    assert isinstance(write, Create)
    assert (write.resource, write.key) == (LEASES, ("extension", LEASE))
    assert plan == Plan(requeue_after=30)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"holderIdentity": "other", "renewTime": "2026-01-02T03:04:00Z"},
        {"holderIdentity": "shoot-rsyslog-relp", "renewTime": "2026-01-02T03:03:00Z"},
        {"holderIdentity": "shoot-rsyslog-relp", "renewTime": "2030-01-01T00:00:00Z"},
    ],
    ids=["empty", "of another", "old", "of the future"],
)
def test_a_lease_is_renewed(spec: dict[str, str]) -> None:
    plan, (write,) = beat(lease(**spec))

    assert isinstance(write, MergePatch)
    assert plan == Plan(requeue_after=30)


def test_a_lease_that_was_renewed_just_now_can_wait() -> None:
    plan, writes = beat(lease(holderIdentity="shoot-rsyslog-relp", renewTime="2026-01-02T03:04:00.678901Z"))

    assert not writes
    assert plan == Plan(requeue_after=25)


@pytest.mark.parametrize(("answer", "error"), [(NotAnswered(500, "", "boom"), None), (ABSENT, ERROR), (lease(), ERROR)])
def test_a_failure_is_tried_again(answer: Found | NotAnswered, error: ApiError | None) -> None:
    (failure,) = beat(answer, error)[0].failures

    assert (failure.problem.text, failure.retryable) == ("boom", True)
