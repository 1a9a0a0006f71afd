"""Which ManagedResources are judged, and when."""

from typing import Any

import pytest

from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.controller import Change
from hedgerow.machinery.plan import Plan
from hedgerow.resource_manager.health.controller import HealthConfig, calls_for_judgement, judgeable

DEFAULT = ClassFilter()
LEAVE, WAIT, JUDGE = Plan(), Plan(requeue_after=60.0), None
IGNORED = {"resources.gardener.cloud/ignore": "true"}
FINALIZER = "resources.gardener.cloud/gardener-resource-manager"


def managed_resource(applied: str | None = "True", *, wanted_class: str = "", **metadata: Any) -> dict[str, Any]:
    conditions = [] if applied is None else [{"type": "ResourcesApplied", "status": applied}]
    return {"metadata": metadata, "spec": {"class": wanted_class}, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("subject", "turn"),
    [
        pytest.param(managed_resource(wanted_class="foo"), LEAVE, id="HL-1"),
        pytest.param(managed_resource(), JUDGE, id="HL-1 class removed"),
        pytest.param(managed_resource(annotations=IGNORED), LEAVE, id="HL-2"),
        pytest.param(managed_resource(annotations=dict.fromkeys(IGNORED, "yes")), JUDGE, id="HL-2 not true"),
        pytest.param(managed_resource(None), WAIT, id="HL-3 absent"),
        pytest.param(managed_resource("Progressing"), WAIT, id="HL-3 progressing"),
        pytest.param(managed_resource("False"), WAIT, id="HL-3 false"),
        pytest.param(managed_resource("Unknown"), JUDGE, id="unknown"),
        pytest.param(managed_resource(deletionTimestamp="2026-01-01T00:00:00Z"), LEAVE, id="deleting"),
        pytest.param(managed_resource("False", annotations=IGNORED), LEAVE, id="left alone, not waited for"),
    ],
)
def test_a_managed_resource_is_judged_once_it_is_applied(subject: dict[str, Any], turn: Plan | None) -> None:
    assert judgeable(subject, HealthConfig()) == (subject if turn is JUDGE else turn)


@pytest.mark.parametrize(
    ("old", "new", "passes"),
    [
        pytest.param(None, managed_resource(), True, id="creation"),
        pytest.param(managed_resource(), None, False, id="deletion"),
        pytest.param(None, managed_resource(annotations=IGNORED), False, id="creation, ignored"),
        pytest.param(None, managed_resource(wanted_class="foo"), False, id="creation, not ours"),
        pytest.param(managed_resource(), managed_resource(), False, id="no change"),
        pytest.param(managed_resource("False"), managed_resource("True"), True, id="applied changed"),
        pytest.param(managed_resource(None), managed_resource("Unknown"), True, id="applied added"),
        pytest.param(managed_resource(), managed_resource(None), True, id="applied removed"),
        pytest.param(managed_resource(wanted_class="foo"), managed_resource(), True, id="class changed to ours"),
        pytest.param(
            managed_resource(),
            managed_resource(wanted_class="foo", finalizers=[FINALIZER]),
            True,
            id="class left, held",
        ),
        pytest.param(managed_resource(annotations=IGNORED), managed_resource(), True, id="no longer ignored"),
        pytest.param(
            managed_resource("False"), managed_resource("True", annotations=IGNORED), False, id="changed, ignored"
        ),
    ],
)
def test_changes_that_call_for_judgement(
    old: Any,
    new: Any,
    passes: bool,  # noqa: FBT001 -- a column of the table
) -> None:
    assert calls_for_judgement(DEFAULT)(Change(old, new)) is passes
