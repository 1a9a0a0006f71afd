"""What keeps registrations, seeds and deployments from going too early (§5)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.registrations import CONTROLLER_REGISTRATIONS
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.controller import Change, Context, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow.machinery.steps import Step
from hedgerow.registration.finalizers import (
    DEPLOYMENTS,
    PROTECTIONS,
    REGISTRATIONS,
    SEEDS_WITH_INSTALLATIONS,
    Protection,
    finalizer_controller,
    reconcile,
)
from tests.executions import executed
from tests.unit.core.registration.garden import GOING, versioned
from tests.unit.core.registration.objects import deployment, installation, registration, seed

KEY = ObjectKey("", "x")
SUBJECTS: dict[Protection, Callable[..., Manifest]] = {
    REGISTRATIONS: registration,
    SEEDS_WITH_INSTALLATIONS: seed,
    DEPLOYMENTS: deployment,
}
DEPENDANTS: dict[Protection, tuple[str, Callable[[str, str], Manifest]]] = {
    REGISTRATIONS: ("ControllerInstallation", lambda name, of: installation(name, registration=of)),
    SEEDS_WITH_INSTALLATIONS: ("ControllerInstallation", lambda name, of: installation(name, seed=of)),
    DEPLOYMENTS: ("ControllerRegistration", lambda name, of: registration(name, deploymentRefs=[{"name": of}])),
}
every_protection = pytest.mark.parametrize("protection", PROTECTIONS)


def subject(protection: Protection, *finalizers: str, going: bool = False) -> Manifest:
    timestamp = {"deletionTimestamp": GOING["deletionTimestamp"]} if going else {}
    return versioned(SUBJECTS[protection]("x"), finalizers=[*finalizers], **timestamp)


def dependants(protection: Protection, *names: str, of: str = "x") -> list[Manifest]:
    return [DEPENDANTS[protection][1](name, of) for name in names]


def planned(protection: Protection, *objects: Manifest, live: Sequence[Manifest] | None = None) -> Plan:
    def perform(step: Step[Any]) -> Found:
        assert isinstance(step, ListQuestion)
        found = objects if live is None else live
        return Found(tuple(each for each in found if Kind.of(each) == step.resource.object_kind))

    snapshot = snapshot_of(finalizer_controller(protection), objects).unwrap()
    plan, _ = executed(reconcile(KEY, snapshot, Context(datetime(2026, 1, 1, tzinfo=UTC), protection)), perform)
    return plan


def finalizers(plan: Plan) -> list[Any]:
    """The finalizers that each patch leaves."""
    return [action.patch["metadata"]["finalizers"] for action in plan.actions if isinstance(action, MergePatch)]


@every_protection
def test_nothing_is_done_about_what_is_gone(protection: Protection) -> None:  # B1
    assert planned(protection) == Plan()


@every_protection
def test_what_exists_is_held(protection: Protection) -> None:  # B2
    plan = planned(protection, subject(protection, "example.com/own"))

    assert finalizers(plan) == [["example.com/own", protection.finalizer]]
    assert planned(protection, subject(protection, protection.finalizer)) == Plan()


@every_protection
def test_what_goes_without_being_held_is_left_alone(protection: Protection) -> None:  # B3
    assert planned(protection, subject(protection, "example.com/own", going=True)) == Plan()


@every_protection
def test_what_others_depend_on_is_kept(protection: Protection) -> None:  # B4
    going = subject(protection, protection.finalizer, going=True)
    plan = planned(protection, going, *dependants(protection, "b", "a"))

    kind = protection.resource.kind
    assert not plan.actions
    assert [(str(each.problem), each.retryable) for each in plan.failures] == [
        (
            f'cannot remove finalizer of {kind} "x" because still found {DEPENDANTS[protection][0]}s: [a b]',
            True,
        )
    ]


@every_protection
def test_what_nothing_depends_on_any_more_may_go(protection: Protection) -> None:  # B5
    of_another = dependants(protection, "a", of="other")

    own = planned(protection, subject(protection, protection.finalizer, going=True), *of_another)
    beside = planned(protection, subject(protection, "example.com/own", protection.finalizer, going=True), *of_another)

    assert finalizers(own) == [None]
    assert finalizers(beside) == [["example.com/own"]]
    assert [action.reason for action in own.actions] == ["released"]


@every_protection
def test_whoever_lets_go_has_seen_the_dependants_as_they_are(protection: Protection) -> None:
    going = subject(protection, protection.finalizer, going=True)

    plan = planned(protection, going, live=dependants(protection, "late"))

    assert not plan.actions
    assert len(plan.failures) == 1


def test_a_read_without_an_answer_is_tried_again() -> None:
    going = subject(REGISTRATIONS, REGISTRATIONS.finalizer, going=True)
    snapshot = snapshot_of(finalizer_controller(REGISTRATIONS), [going]).unwrap()
    context = Context(datetime(2026, 1, 1, tzinfo=UTC), REGISTRATIONS)
    plan, _ = executed(reconcile(KEY, snapshot, context), lambda _step: NotAnswered(500, "", "no answer"))

    assert [(str(each), each.retryable) for each in plan.failures] == [
        ("ControllerInstallation objects: no answer", True)
    ]


def enqueued(protection: Protection, old: Manifest | None, new: Manifest | None) -> set[str]:
    controller = finalizer_controller(protection)
    kind = Kind.of(new or old or {})
    (watch,) = (each for each in controller.watches if each.resource.object_kind == kind)
    change = Change(old and watch.transform(old), new and watch.transform(new))
    return {key.name for key in concerned_keys(watch, change, snapshot_of(controller, ()).unwrap())}


@every_protection
def test_an_object_is_looked_at_when_its_generation_changes(protection: Protection) -> None:
    before = versioned(SUBJECTS[protection]("x"), generation=1)
    labelled = versioned(before, labels={"a": "b"}, generation=1)
    going = subject(protection, protection.finalizer, going=True)

    assert enqueued(protection, None, before) == enqueued(protection, before, None) == {"x"}
    assert enqueued(protection, before, labelled) == set()
    assert enqueued(protection, labelled, {**labelled, "metadata": {**labelled["metadata"], "generation": 2}}) == {"x"}
    assert enqueued(protection, subject(protection, protection.finalizer), going) == {"x"}


@every_protection
def test_an_object_is_looked_at_when_something_depends_on_it_no_longer(protection: Protection) -> None:
    (one,), (other,) = dependants(protection, "a"), dependants(protection, "a", of="y")

    assert enqueued(protection, one, None) == {"x"}
    assert enqueued(protection, one, other) == {"x", "y"}
    assert enqueued(protection, None, one) == enqueued(protection, one, one) == set()


def test_references_that_cannot_be_read_hold_nothing() -> None:
    odd = [
        {**registration(f"odd-{number}"), "spec": {"deployment": deployed}}
        for number, deployed in enumerate([1, {"deploymentRefs": 1}, {"deploymentRefs": [{"name": 1}, {}]}])
    ]
    plan = planned(DEPLOYMENTS, subject(DEPLOYMENTS, DEPLOYMENTS.finalizer, going=True), *odd)

    assert finalizers(plan) == [None]
    assert {Kind.of(each) for each in odd} == {CONTROLLER_REGISTRATIONS.object_kind}
