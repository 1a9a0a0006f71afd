"""Whether the extensions of a seed are ready (§11)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.api.registrations import SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.manifests import ManifestSnapshot
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.seed_check import extensions_ready, seed_check_controller
from tests.unit.core.controllers.stage import Stage, Turn, World, in_source
from tests.unit.core.registration.objects import KINDS, condition, deployment, installation, registration, seed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOOD = (
    condition("Valid", "True", "v"),
    condition("Installed", "True", "i"),
    condition("Healthy", "True", "h"),
    condition("Progressing", "False", "p"),
)
SEED = ObjectKey("", "s")
NOT_YET = "extension was not yet installed"
ALL_READY = "All extensions installed into the seed cluster are ready and healthy."


def judged(*installations: Manifest, of_others: tuple[str, ...] = ()) -> tuple[str, str, str]:
    old = Condition("ExtensionsReady", "Unknown")
    ready = extensions_ready(installations, of_others, old, timedelta(0), NOW)
    return ready.status, ready.reason, ready.message


def but(*changed: Manifest) -> tuple[Manifest, ...]:
    """Good conditions but for these."""
    types = {each["type"] for each in changed}
    return (*(each for each in GOOD if each["type"] not in types), *changed)


def test_a_seed_without_installations_is_ready() -> None:  # F1
    assert judged() == ("True", "AllExtensionsReady", ALL_READY)


def test_installations_without_conditions_are_not_installed() -> None:  # F2
    assert judged(installation("foo-3"), installation("foo-1")) == (
        "False",
        "NotAllExtensionsInstalled",
        f"Some extensions are not installed: map[foo-1:{NOT_YET} foo-3:{NOT_YET}]",
    )


def test_good_conditions_make_the_seed_ready_whatever_others_say() -> None:  # F3
    assert judged(installation(conditions=(*GOOD, condition("Required", "False"))))[0] == "True"


PROBLEMS = {  # F4
    "Valid": ("False", "NotAllExtensionsValid", "Some extensions are not valid: map[i:m]"),
    "Installed": ("False", "NotAllExtensionsInstalled", "Some extensions are not installed: map[i:m]"),
    "Healthy": ("Unknown", "NotAllExtensionsHealthy", "Some extensions are not healthy: map[i:m]"),
    "Progressing": ("True", "SomeExtensionsProgressing", "Some extensions are progressing: map[i:m]"),
}


@pytest.mark.parametrize("type_", PROBLEMS)
def test_a_condition_that_is_not_as_expected_is_told(type_: str) -> None:
    status, reason, message = PROBLEMS[type_]

    assert judged(installation(conditions=but(condition(type_, status)))) == ("False", reason, message)


@pytest.mark.parametrize("type_", ["Valid", "Progressing"])
def test_an_installation_that_lacks_a_condition_is_not_healthy(type_: str) -> None:  # F7
    conditions = tuple(each for each in GOOD if each["type"] != type_)

    assert judged(installation(conditions=conditions)) == (
        "False",
        "NotAllExtensionsHealthy",
        "Some extensions are not healthy: map[i:not all required conditions found in ControllerInstallation]",
    )


def test_one_that_is_not_healthy_is_told_with_its_message_though_it_lacks_a_condition() -> None:
    conditions = tuple(each for each in but(condition("Healthy", "False", "why")) if each["type"] != "Progressing")

    assert judged(installation(conditions=conditions))[2].endswith("map[i:why]")


def test_the_worst_problem_is_told_of_all_that_have_it() -> None:
    progressing = installation("a", conditions=but(condition("Progressing", "True")))
    unhealthy = [installation(name, conditions=but(condition("Healthy", "False", name))) for name in ("c", "b")]

    assert judged(progressing, *unhealthy)[2] == "Some extensions are not healthy: map[b:b c:c]"


def test_who_deploys_an_installation_without_the_project_need_not_say_whether_it_is_healthy() -> None:
    told = GOOD[:2]

    assert judged(installation(conditions=told), of_others=("i",))[0] == "True"
    assert judged(installation(conditions=told))[1] == "NotAllExtensionsHealthy"
    assert judged(installation(conditions=told[:1]), of_others=("i",))[1] == "NotAllExtensionsHealthy"


def test_but_what_it_says_counts() -> None:
    told = but(condition("Healthy", "False"))

    assert judged(installation(conditions=told), of_others=("i",))[1] == "NotAllExtensionsHealthy"


MINUTE = timedelta(minutes=1)
TOLERANCE: dict[str, tuple[Condition, timedelta, str]] = {  # F5, F6
    "was ready": (Condition("E", "True"), MINUTE, "Progressing"),
    "was ready, without a threshold": (Condition("E", "True"), timedelta(0), "False"),
    "for 30 s": (
        Condition("E", "Progressing", last_transition_time=NOW - timedelta(seconds=30)),
        MINUTE,
        "Progressing",
    ),
    "for a minute": (Condition("E", "Progressing", last_transition_time=NOW - MINUTE), MINUTE, "Progressing"),
    "for 90 s": (Condition("E", "Progressing", last_transition_time=NOW - timedelta(seconds=90)), MINUTE, "False"),
    "at once": (Condition("E", "Progressing", last_transition_time=NOW), timedelta(0), "False"),
    "was not, for another reason": (Condition("E", "False", "Other"), MINUTE, "False"),
    "unknown": (Condition("E", "Unknown"), MINUTE, "False"),
}


@pytest.mark.parametrize("name", TOLERANCE)
def test_what_is_not_ready_counts_as_progressing_for_a_while(name: str) -> None:
    old, threshold, status = TOLERANCE[name]

    assert extensions_ready([installation()], (), old, threshold, NOW).status == status


def stage(*garden: Manifest, own: str = "s") -> Stage:
    controller = seed_check_controller(CheckConfig(own))
    placed = in_source(seed(), registration(), deployment(), *garden)
    return Stage(World(controller, placed, placed[0], kinds=KINDS))


def turn(of: Stage, key: ObjectKey = SEED) -> Turn:
    of.turn(key)
    return of.turns[-1]


def told(of: Stage) -> Any:
    conditions = ((of.clusters[Cluster.SOURCE].get(SEEDS, SEED) or {}).get("status") or {}).get("conditions", ())
    return [(each["type"], each["status"], each["reason"]) for each in conditions]


def test_a_seed_is_told_by_its_own_installations() -> None:
    world = stage(installation(conditions=GOOD), installation("theirs", seed="t"))

    assert turn(world).plan.requeue_after == 30
    assert told(world) == [("ExtensionsReady", "True", "AllExtensionsReady")]


def test_what_has_been_told_is_not_told_again() -> None:
    world = stage(installation(conditions=GOOD))
    turn(world)

    again = turn(world)

    assert (again.steps, again.plan.actions, again.plan.requeue_after) == ((), (), 30)


@pytest.mark.parametrize(
    ("garden", "status"),
    [
        ((installation(deployment="o", conditions=GOOD[:2]), deployment("o", "operator")), "True"),
        ((installation(deployment="gone", conditions=GOOD[:2]),), "False"),
        ((installation(deployment=None, conditions=GOOD[:2]),), "True"),
        (({**installation(conditions=GOOD[:2]), "spec": {"seedRef": {"name": "s"}, "deploymentRef": 3}},), "False"),
    ],
    ids=["deployed by somebody else", "nobody knows by whom", "deployed by nobody", "unreadable"],
)
def test_whoever_deploys_an_installation_has_to_tell_of_it(garden: tuple[Manifest, ...], status: str) -> None:
    world = stage(*garden)
    turn(world)

    assert told(world)[0][1] == status


@pytest.mark.parametrize(("own", "key"), [("t", SEED), ("s", ObjectKey("", "gone"))])
def test_other_seeds_and_those_that_are_gone_are_left_alone(own: str, key: ObjectKey) -> None:
    assert turn(stage(installation(), own=own), key).plan.requeue_after is None


def test_a_status_that_cannot_be_written_is_a_failure() -> None:
    world = stage(installation())
    world.at_moment = lambda _moment: world.patch(
        world.world.subject, {"metadata": {"annotations": {"moment": str(world.moments)}}}
    )

    (failure,) = turn(world).plan.failures

    assert (failure.resource, failure.key, failure.retryable) == (SEEDS, SEED, True)


def enqueued(change: Change, own: str = "s") -> set[str]:
    controller = seed_check_controller(CheckConfig(own))
    (kind,) = {each["kind"] for each in (change.old, change.new) if each}
    (watch,) = (each for each in controller.watches if each.resource.kind == kind)
    return {key.name for key in concerned_keys(watch, change, ManifestSnapshot())}


def test_seeds_that_come_and_installations_that_change_are_followed() -> None:
    installed = installation(conditions=GOOD)

    assert enqueued(Change(None, seed())) == {"s"}
    assert enqueued(Change(seed(), seed())) == set()
    assert enqueued(Change(None, installed)) == {"s"}
    assert enqueued(Change(installed, None)) == {"s"}
    assert enqueued(Change(installed, installation(conditions=but(condition("Healthy", "False"))))) == {"s"}
    assert enqueued(Change(installed, installation(conditions=(*GOOD, condition("Required", "True"))))) == set()
    assert enqueued(Change(None, installed), own="t") == set()
    assert enqueued(Change(None, installed), own="") == {"s"}
    assert enqueued(Change(None, {**installed, "spec": {"seedRef": 3}})) == set()
