"""Recorded conditions of ControllerInstallations, and of Seeds by them."""

import re
from datetime import timedelta
from typing import Any

import pytest

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, SEEDS
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.registration.care import care_controller
from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.seed_check import seed_check_controller
from tests.golden.reference.recorded_garden import RecordedGarden
from tests.golden.reference.recordings import cases

CARE = care_controller(CheckConfig())
CONTROLLERS: dict[str, Any] = {"care": CARE, "check": seed_check_controller(CheckConfig())}


def without_causes(conditions: Any) -> Any:
    """Conditions without why a ManagedResource cannot be read, which may differ."""
    return conditions and [
        {**each, "message": re.sub("(?<=^Failed to get ManagedResource ).*", "", each["message"], flags=re.DOTALL)}
        for each in conditions
    ]


@pytest.mark.parametrize("recording", [*cases("registration-care.jsonl")])
def test_installations_are_as_their_managed_resources_are(recording: Any) -> None:
    installation, managed_resource = recording["installation"], recording["managedResource"]
    garden = RecordedGarden(
        CARE,
        recording["now"],
        [*recording["deployments"], *([installation] if installation else [])],
        [managed_resource] if managed_resource else [],
        {MANAGED_RESOURCES: recording["readError"]},
    )
    name = installation["metadata"]["name"] if installation else "gone"

    plan = garden.reconcile(ObjectKey("", name))

    assert without_causes(garden.conditions(CONTROLLER_INSTALLATIONS, name)) == without_causes(recording["conditions"])
    assert (plan.requeue_after or 0) == recording["requeueAfter"]
    assert bool(plan.failures) == (recording["error"] is not None)


@pytest.mark.parametrize("recording", [*cases("registration-seed-check.jsonl")])
def test_seeds_are_as_their_installations_are(recording: Any) -> None:
    controller = seed_check_controller(CheckConfig(threshold=timedelta(seconds=recording["thresholdSeconds"])))
    objects = [recording["seed"], *recording["deployments"], *recording["installations"]]
    garden = RecordedGarden(controller, recording["now"], objects)

    plan = garden.reconcile(key_of(recording["seed"]))

    assert garden.conditions(SEEDS, recording["seed"]["metadata"]["name"]) == recording["conditions"]
    assert plan.requeue_after == recording["requeueAfter"]
    assert plan.failures == ()


def is_compared(recording: Any) -> bool:
    """Whether an event is of a controller here, and can happen: no object moves to another namespace."""
    if recording is None:
        return True
    versions = (each for each in (recording["old"], recording["object"]) if each)
    places = {each["metadata"].get("namespace") for each in versions}
    return recording["controller"] in CONTROLLERS and len(places) == 1


@pytest.mark.parametrize(
    "recording", [each for each in cases("registration-events.jsonl") if is_compared(each.values[0])]
)
def test_an_event_enqueues_what_depends_on_it(recording: Any) -> None:
    garden = RecordedGarden(CONTROLLERS[recording["controller"]], "2024-05-01T12:00:00Z", recording["objects"])

    enqueued = garden.enqueued(recording)

    assert enqueued == set(recording["keys"])
    assert bool(enqueued) == recording["passes"]
