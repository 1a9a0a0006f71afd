"""Whether the extension controllers that something needs are ready (§12.4)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow.machinery.steps import AtOnce, Execution, Now, Step
from hedgerow.registration.gate import Unready, extensions_problem, extensions_unready
from tests.unit.core.registration.garden import resource
from tests.unit.core.registration.objects import condition, deployment, installation, registration

READY = (condition("Installed", "True"), condition("Healthy", "True"), condition("Progressing", "False"))
SERVES = registration("r", resource("Network", "Calico"), resource("Worker", "x", primary=False))


def problem(
    *ids: str, installations: Sequence[Manifest], kind: str | None = "helm", serves: Manifest = SERVES
) -> str | None:
    deployments = {} if kind is None else {"d": deployment(type_=kind)}
    return extensions_problem("s", ids, installations, {key_of(serves).name: serves}, deployments)


def test_whatever_is_served_by_a_ready_controller_is_ready() -> None:
    ready = [installation(conditions=READY)]

    assert problem("Network/calico", "Worker/X", installations=ready) is None
    assert problem("Network/b", "Worker/x", "Network/a", "network/calico", installations=ready) == (
        "extension controllers missing or unready: [Network/a Network/b network/calico]"
    )


@pytest.mark.parametrize("missing", [0, 1, 2])
@pytest.mark.parametrize("kind", ["helm", None])
def test_a_controller_is_ready_by_three_conditions(missing: int, kind: str | None) -> None:
    conditions = tuple(each for place, each in enumerate(READY) if place != missing)

    assert problem("Worker/x", installations=[installation(conditions=conditions)], kind=kind)
    assert problem("Worker/x", installations=[installation(conditions=READY)], kind=kind) is None


@pytest.mark.parametrize("wrong", [condition("Healthy", "False"), condition("Progressing", "True")])
def test_who_deploys_elsewhere_need_not_tell_of_health_but_may(wrong: Manifest) -> None:
    installed = installation(conditions=READY[:1])
    unwell = installation(conditions=(*READY[:1], wrong))
    inline = registration("r", resource("Worker", "x"), type="operator")

    assert problem("Worker/x", installations=[installed], kind="operator") is None
    assert problem("Worker/x", installations=[unwell], kind="operator")
    assert (
        problem("Worker/x", installations=[installation(conditions=READY[:1], deployment=None)], serves=inline) is None
    )
    assert problem("Worker/x", installations=[installation()], kind="operator")


def test_installations_of_other_seeds_do_not_count() -> None:
    assert problem("Worker/x", installations=[installation(seed="t", conditions=READY)])


def test_what_cannot_be_known_is_told() -> None:
    unknown = [installation(registration="gone")]
    odd = {**SERVES, "spec": {"resources": 1}}

    assert problem("Worker/x", installations=unknown) == 'ControllerRegistration "gone" not found'
    assert problem("Worker/x", installations=[installation(conditions=READY)], serves=odd) == (
        "spec.resources: expected a list, got an integer"
    )


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def asked(began: datetime, *answers: Any) -> Unready | None:
    def perform(step: Step[Any]) -> Any:
        if isinstance(step, Now):
            return NOW
        assert isinstance(step, AtOnce)
        return answers

    with Execution(extensions_unready("s", ["Worker/x"], began)) as execution:
        state = execution.begin()
        while isinstance(state, Step):
            state = execution.go_on(perform(state))
    return state


def test_callers_ask_again_for_a_minute() -> None:
    found = (Found((installation(),)), Found((SERVES,)), Found((deployment(),)))
    text = "extension controllers missing or unready: [Worker/x]"

    assert asked(NOW, Found((installation(conditions=READY),)), *found[1:]) is None
    assert asked(NOW - timedelta(seconds=59), *found) == Unready(text, 5.0)
    assert asked(NOW - timedelta(minutes=1), *found) == Unready(text, None)
    assert asked(NOW, *found[:2], NotAnswered(500, "", "no answer")) == Unready("no answer", 5.0)
