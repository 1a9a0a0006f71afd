"""How an installation is, by its ManagedResource (§9)."""

from typing import Any

import pytest

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.manifests import ManifestSnapshot
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.registration.care import care_controller
from hedgerow.registration.conditions import CheckConfig
from hedgerow_adapters.memory import Answered, Fault
from hedgerow_adapters.memory import requests as picks
from hedgerow_adapters.protocol.transport import Response
from tests.unit.core.controllers.stage import Stage, Turn, World, in_source, in_target
from tests.unit.core.registration.objects import (
    KEY,
    KINDS,
    condition,
    deployment,
    installation,
    managed_resource,
    registration,
)

READ_ERROR = 'Failed to get ManagedResource "garden/i": '
MISSING = f'{READ_ERROR}ManagedResource "garden/i" not found'
GOOD = (
    condition("ResourcesApplied", "True"),
    condition("ResourcesHealthy", "True"),
    condition("ResourcesProgressing", "False"),
)
FINE = (
    ("Healthy", "True", "ControllerHealthy", "The controller running in the seed cluster is healthy."),
    (
        "Installed",
        "True",
        "InstallationSuccessful",
        "The controller was successfully installed in the seed cluster.",
    ),
    ("Progressing", "False", "ControllerRolledOut", "The controller has been rolled out successfully."),
)


def stage(*seed: Manifest, garden: tuple[Manifest, ...] | None = None, own: str = "s") -> Stage:
    there = (installation(), registration(), deployment()) if garden is None else garden
    controller = care_controller(CheckConfig(own))
    return Stage(World(controller, (*in_source(*there), *in_target(*seed)), in_source(*there)[0], kinds=KINDS))


def turn(of: Stage) -> Turn:
    of.turn(KEY)
    return of.turns[-1]


def told(of: Stage) -> tuple[tuple[str, str, str, str], ...]:
    """Type, status, reason and message of each condition."""
    found = of.clusters[Cluster.SOURCE].get(CONTROLLER_INSTALLATIONS, KEY) or {}
    conditions = found.get("status", {}).get("conditions", ())
    return tuple((each["type"], each["status"], each["reason"], each["message"]) for each in conditions)


def unknown(message: str) -> tuple[tuple[str, str, str, str], ...]:
    return tuple((type_, "Unknown", "SeedReadError", message) for type_ in ("Healthy", "Installed", "Progressing"))


def test_a_managed_resource_that_is_missing_is_looked_for_again_soon() -> None:  # D1
    world = stage()

    assert turn(world).plan.requeue_after == 1
    assert told(world) == unknown(MISSING)


def test_one_that_is_known_to_be_missing_costs_no_request() -> None:
    world = stage()
    turn(world)

    again = turn(world)

    assert (again.steps, again.plan.requeue_after) == ((), 1)


def test_one_that_only_the_cache_lacks_is_taken_as_it_is() -> None:
    world = stage(managed_resource("i", *GOOD))
    world.lag = 1

    assert world.snapshot().list(MANAGED_RESOURCES) == []
    assert turn(world).plan.requeue_after == 30
    assert told(world) == FINE


def refused(code: int = 500, reason: str = "InternalError") -> Fault:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "message": "boom",
        "code": code,
    }
    return Fault(picks("GET", "managedresources"), Answered(Response(code, body)), times=None)


def test_one_that_cannot_be_read_is_an_error() -> None:  # D2
    world = stage()
    world.clusters[Cluster.TARGET].faults.append(refused())

    plan = turn(world).plan

    assert told(world) == unknown(f"{READ_ERROR}boom")
    assert [str(each) for each in plan.failures] == [f"ControllerInstallation i: {READ_ERROR}boom"]
    assert plan.failures[0].retryable


def test_one_that_has_been_asked_for_in_vain_is_asked_for_until_it_can_be_read() -> None:
    world = stage()
    world.clusters[Cluster.TARGET].faults.append(refused())
    turn(world)
    world.clusters[Cluster.TARGET].faults.clear()

    assert isinstance(turn(world).steps[0], ObjectQuestion)
    assert told(world) == unknown(MISSING)


def test_what_is_not_applied_yet_is_pending_whatever_its_conditions_say() -> None:  # D3
    world = stage(managed_resource("i", *GOOD, observed=0))
    turn(world)

    pending = "observed generation of managed resource garden/i outdated (0/1)"
    assert told(world) == (FINE[0], ("Installed", "False", "InstallationPending", pending), FINE[2])


def test_conditions_that_are_missing_are_problems() -> None:  # D4
    world = stage(managed_resource())
    turn(world)

    unreported = "condition Resources{} for managed resource garden/i has not been reported yet"
    assert told(world) == (
        ("Healthy", "False", "ControllerNotHealthy", unreported.format("Healthy")),
        ("Installed", "False", "InstallationPending", unreported.format("Applied")),
        ("Progressing", "True", "ControllerNotRolledOut", unreported.format("Progressing")),
    )


@pytest.mark.parametrize("status", ["False", "Unknown", "Progressing"])  # D5, D7
def test_problems_carry_the_messages_of_the_managed_resource(status: str) -> None:
    progressing = "True" if status == "False" else status
    world = stage(
        managed_resource(
            "i",
            condition("ResourcesApplied", status, "one"),
            condition("ResourcesHealthy", status, "two"),
            condition("ResourcesProgressing", progressing, "three"),
        )
    )
    turn(world)

    assert [message for *_, message in told(world)] == [
        f"condition ResourcesHealthy of managed resource garden/i is {status}: two",
        f"condition ResourcesApplied of managed resource garden/i is {status}: one",
        f"condition ResourcesProgressing of managed resource garden/i is {progressing}: three",
    ]


def test_everything_is_fine() -> None:  # D6
    world = stage(managed_resource("i", *GOOD))

    assert turn(world).plan.requeue_after == 30
    assert told(world) == FINE


def test_what_is_settled_costs_no_request() -> None:
    world = stage(managed_resource("i", *GOOD))
    turn(world)

    again = turn(world)

    assert (again.steps, again.plan.actions, again.plan.requeue_after) == ((), (), 30)


def test_conditions_of_other_controllers_stay_where_they_are() -> None:
    others = (condition("Required", "True"), condition("Installed", "False"), condition("Valid", "True"))
    world = stage(managed_resource("i", *GOOD), garden=(installation(conditions=others), registration(), deployment()))
    turn(world)

    assert [type_ for type_, *_ in told(world)] == ["Required", "Installed", "Valid", "Healthy", "Progressing"]
    assert told(world)[0] == ("Required", "True", "R", "m")


LEFT_ALONE: dict[str, tuple[Manifest, ...]] = {
    "gone": (registration(), deployment()),
    "being deleted": (
        installation(deletionTimestamp="2025-06-01T00:00:00Z", finalizers=["a.example/b"]),
        registration(),
        deployment(),
    ),
    "deployed by somebody else": (installation(), registration(), deployment(type_="operator")),
    "deployed by nobody": (installation(deployment=None), registration()),
    "of another seed": (installation(seed="t"), registration(), deployment()),
    "of a deployment that is missing": (installation(), registration()),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_an_installation_is_left_alone_that_is(name: str) -> None:  # D8
    world = stage(managed_resource("i", *GOOD), garden=LEFT_ALONE[name])

    left = turn(world)

    assert (left.steps, left.plan.actions, left.plan.requeue_after) == ((), (), None)


HELD = "core.gardener.cloud/controllerinstallation"


def test_one_with_the_finalizer_is_looked_after_though_its_deployment_is_missing() -> None:
    held = installation(finalizers=[HELD])
    world = stage(managed_resource("i", *GOOD), garden=(held, registration()))
    turn(world)

    assert told(world) == FINE


def test_one_with_the_finalizer_is_left_alone_if_only_the_cache_lacks_a_deployment_by_somebody_else() -> None:
    held = installation(finalizers=[HELD])
    garden = (held, registration(), deployment(type_="operator"))
    world = stage(garden=garden)
    world.lag = 1

    assert turn(world).plan.requeue_after is None
    assert told(world) == ()


def test_one_with_the_finalizer_is_looked_after_though_its_registration_cannot_be_read() -> None:
    unreadable = {**registration(), "spec": {"deployment": 3}}
    held = installation(deployment=None, finalizers=[HELD])
    world = stage(managed_resource("i", *GOOD), garden=(held, unreadable))
    turn(world)

    assert told(world) == FINE


def test_an_installation_that_cannot_be_read_is_a_failure() -> None:
    unreadable = {**installation(), "spec": {"seedRef": 3}}
    (failure,) = turn(stage(garden=(unreadable,))).plan.failures

    assert str(failure) == "ControllerInstallation i: spec.seedRef: expected an object, got an integer"


def test_a_managed_resource_that_cannot_be_read_is_a_failure() -> None:
    world = stage({**managed_resource("i", *GOOD), "status": {"observedGeneration": "one"}})

    (failure,) = turn(world).plan.failures

    assert str(failure) == "ManagedResource garden/i: status.observedGeneration: expected an integer, got a string"


def enqueued(resource: str, change: Change) -> set[str]:
    controller = care_controller(CheckConfig("s"))
    (watch,) = (each for each in controller.watches if each.resource.kind == resource)
    versions = [(each and watch.reads(each) and watch.transform(each)) or None for each in (change.old, change.new)]
    return {key.name for key in concerned_keys(watch, Change(*versions), ManifestSnapshot())}


PLACES: dict[str, tuple[dict[str, Any], set[str]]] = {  # D9
    "another namespace": ({"namespace": "shoot"}, set()),
    "no label": ({"labels": {}}, set()),
    "an empty label": ({"labels": {"controllerinstallation-name": ""}}, set()),
    "as it should be": ({}, {"i"}),
}


@pytest.mark.parametrize("name", PLACES)
def test_managed_resources_of_installations_are_followed(name: str) -> None:
    metadata, keys = PLACES[name]

    assert enqueued("ManagedResource", Change(None, managed_resource("i", **metadata))) == keys


def test_only_creations_of_own_installations_are_followed() -> None:
    assert enqueued("ControllerInstallation", Change(None, installation())) == {"i"}
    assert enqueued("ControllerInstallation", Change(None, installation(seed="t"))) == set()
    assert enqueued("ControllerInstallation", Change(installation(), installation())) == set()
    assert enqueued("ControllerInstallation", Change(None, {**installation(), "spec": {"seedRef": 3}})) == {"i"}
