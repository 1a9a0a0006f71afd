"""Which installations the extension objects of a seed still need (§10)."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, EXTENSION_KINDS
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow.machinery.plan import ApiError, MergePatch, Plan, WriteResult
from hedgerow.machinery.steps import Step
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.registrations import ServedType
from hedgerow.registration.required import LOOK_AGAIN, reconcile, required, required_controller
from tests.executions import executed
from tests.unit.core.registration.garden import resource, versioned
from tests.unit.core.registration.objects import condition, installation, made, registration

NONE_LEFT = "no extension objects exist in the seed having the kind/type combinations the controller is responsible for"
NO_MORE = ("False", "NoExtensionObjects", NONE_LEFT)
STILL = ("True", "ExtensionObjectsExist", "extension objects still exist in the seed: [Infrastructure/t1]")
CONTROLLER = required_controller(CheckConfig("s"))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ObjectKey("", "i")
SERVED = registration("r", resource("Infrastructure", "t1"), resource("ControlPlane", "foo"))
MINE = versioned(installation())


def extension(kind: str, type_: str, name: str = "x") -> Manifest:
    place = {"name": name, "namespace": "shoot--a--b"} if EXTENSION_KINDS[kind].namespaced else {"name": name}
    return made(EXTENSION_KINDS[kind], place, spec={"type": type_})


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({"Infrastructure": set(), "ControlPlane": set()}, NO_MORE),  # E1
        ({"Infrastructure": {"t1"}, "ControlPlane": set()}, STILL),  # E2
        ({"Infrastructure": {"t1"}}, STILL),  # E3
        ({"Infrastructure": set()}, None),  # E4
        ({"Infrastructure": {"t2"}, "ControlPlane": set()}, NO_MORE),  # E6
    ],
)
def test_an_installation_is_required_while_objects_of_it_exist(types: dict[str, set[str]], expected: Any) -> None:
    served = [ServedType.of(each) for each in SERVED["spec"]["resources"]]

    found = required(served, lambda each: each.type in types[each.kind] if each.kind in types else None)

    assert found == expected


def test_several_types_are_sorted_and_what_serves_nothing_is_not_required() -> None:
    served = [ServedType.of(resource(kind, "x")) for kind in ("Worker", "Network")]

    assert required(served, lambda _each: True) == (
        "True",
        "ExtensionObjectsExist",
        "extension objects still exist in the seed: [Network/x Worker/x]",
    )
    assert required([], lambda _each: True) == NO_MORE


def turn(
    *objects: Manifest, unlisted: tuple[str, ...] = (), error: ApiError | None = None, seed: str = "s"
) -> tuple[Plan, list[Manifest]]:
    """The plan for the installation, and the conditions that are written."""
    unknown = [EXTENSION_KINDS[kind] for kind in unlisted]
    shown = replace(CONTROLLER, watches=tuple(each for each in CONTROLLER.watches if each.resource not in unknown))
    written: list[Manifest] = []

    def perform(step: Step[Any]) -> WriteResult:
        assert isinstance(step, MergePatch)
        written.extend(step.patch["status"]["conditions"])
        assert (step.resource_version, step.subresource, step.cluster) == ("1", "status", Cluster.SOURCE)
        return WriteResult(step, error=error)

    snapshot = snapshot_of(shown, objects).unwrap()
    plan, _ = executed(reconcile(KEY, snapshot, Context(NOW, CheckConfig(seed))), perform)
    return plan, written


def test_the_condition_follows_the_objects() -> None:  # E5
    plan, written = turn(MINE, SERVED, extension("Infrastructure", "t1"))
    assert [(each["type"], each["status"], each["reason"]) for each in written] == [("Required", *STILL[:2])]
    assert plan == Plan()

    still = versioned(installation(conditions=(condition("Valid", "True"), written[0])))
    assert turn(still, SERVED, extension("Infrastructure", "t1")) == (Plan(), [])
    _, written = turn(still, SERVED)
    assert [(each["type"], each["status"]) for each in written] == [("Valid", "True"), ("Required", "False")]


def test_kinds_that_are_not_listed_yet_are_awaited() -> None:
    assert turn(MINE, SERVED, unlisted=("ControlPlane",)) == (Plan(requeue_after=LOOK_AGAIN), [])
    assert turn(MINE, SERVED, extension("Infrastructure", "t1"), unlisted=("ControlPlane",))[1]


def test_kinds_that_there_are_not_have_no_objects() -> None:
    _, written = turn(MINE, registration("r", resource("Surprise", "x")))

    assert written[0]["status"] == "False"


def test_installations_of_other_seeds_are_left_alone() -> None:
    assert turn(MINE, SERVED, seed="t") == turn() == (Plan(), [])
    assert turn(MINE, SERVED, seed="")[1]


@pytest.mark.parametrize(
    ("objects", "problem", "retryable"),
    [
        ([MINE], 'ControllerInstallation i: ControllerRegistration "r" not found', True),
        (
            [MINE, {**SERVED, "spec": {"resources": 1}}],
            "ControllerRegistration r: spec.resources: expected a list, got an integer",
            False,
        ),
        (
            [{**MINE, "spec": {"seedRef": {"name": "s"}, "registrationRef": 1}}, SERVED],
            "ControllerInstallation i: spec.registrationRef: expected an object, got an integer",
            False,
        ),
    ],
)
def test_what_cannot_be_read_is_told(objects: list[Manifest], problem: str, retryable: bool) -> None:  # noqa: FBT001 -- a case
    plan, _ = turn(*objects)

    assert [(str(each), each.retryable) for each in plan.failures] == [(problem, retryable)]


def test_a_refused_write_is_tried_again() -> None:
    plan, _ = turn(MINE, SERVED, error=ApiError(403, "Forbidden", "no"))

    assert [(str(each), each.retryable) for each in plan.failures] == [("ControllerInstallation i: no", True)]


def enqueued(old: Manifest | None, new: Manifest | None, *garden: Manifest) -> set[str]:
    kind = Kind.of(new or old or {})
    (watch,) = (each for each in CONTROLLER.watches if each.resource.object_kind == kind)
    change = Change(old and watch.transform(old), new and watch.transform(new))
    return {key.name for key in concerned_keys(watch, change, snapshot_of(CONTROLLER, garden).unwrap())}


GARDEN = (
    registration("reg1", resource("Infrastructure", "foo")),
    registration("reg2", resource("Infrastructure", "bar")),
    registration("reg3", resource("ControlPlane", "foo")),
    *(installation(f"i{number}", registration=f"reg{number}") for number in (1, 2, 3)),
    installation("theirs", registration="reg1", seed="t"),
)


def test_an_object_concerns_the_installations_that_serve_its_kind() -> None:  # E7, E8
    one = extension("Infrastructure", "foo")

    assert enqueued(None, one, *GARDEN) == enqueued(one, None, *GARDEN) == {"i1", "i2"}
    assert enqueued(None, one, *GARDEN[3:]) == enqueued(None, one, *GARDEN[:3]) == set()  # E10


def test_an_object_concerns_them_when_its_type_changes() -> None:  # E9, E11
    one, other = extension("Infrastructure", "foo"), extension("Infrastructure", "bar")

    assert enqueued(one, {**one, "status": {}}, *GARDEN) == set()
    assert enqueued(one, other, *GARDEN) == {"i1", "i2"}


def test_new_installations_are_judged_and_those_of_other_registrations() -> None:
    one = versioned(GARDEN[0], generation=1)

    assert enqueued(None, installation("i1"), *GARDEN) == {"i1"}
    assert enqueued(installation("i1"), installation("i1"), *GARDEN) == set()
    assert enqueued(None, GARDEN[-1], *GARDEN) == set()
    assert enqueued(one, versioned(GARDEN[0], generation=2), *GARDEN) == {"i1"}
    assert enqueued(one, versioned(GARDEN[0], generation=1), *GARDEN) == set()


def test_objects_whose_type_cannot_be_read_are_of_none() -> None:
    _, written = turn(MINE, SERVED, {**extension("Infrastructure", "t1"), "spec": {"type": 1}})

    assert written[0]["status"] == "False"
    assert CONTROLLER.primary == CONTROLLER_INSTALLATIONS
