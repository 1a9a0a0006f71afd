"""The registration of extensions, against what the reference planned, decided and wrote."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from hedgerow.registration.conditions import CheckConfig
from hedgerow.registration.planning import PlanningConfig
from hedgerow.registration.required import required_controller
from hedgerow.registration.seed_controller import seed_controller
from tests.golden.reference import recorded_finalizers, recorded_gate, recorded_planning, recorded_required
from tests.golden.reference.recorded_events import compare_filter, compare_keys
from tests.golden.reference.recordings import cases

Recording = Mapping[str, Any]

EVENTS: Mapping[str, Callable[[Recording], None]] = {
    "planner": partial(compare_keys, seed_controller(PlanningConfig())),
    "required": partial(compare_filter, required_controller(CheckConfig())),
}
"""How the events of a controller are compared."""


@pytest.mark.parametrize("recording", [*cases("registration-planning.jsonl")])
def test_seeds_get_the_same_installations(recording: Recording) -> None:
    recorded_planning.check(recording)


@pytest.mark.parametrize("recording", [*cases("registration-finalizers.jsonl")])
def test_the_same_objects_are_kept(recording: Recording) -> None:
    recorded_finalizers.check(recording)


@pytest.mark.parametrize("recording", [*cases("registration-required.jsonl")])
def test_the_same_installations_are_required(recording: Recording) -> None:
    recorded_required.check(recording)


@pytest.mark.parametrize("recording", [*cases("registration-gate.jsonl")])
def test_the_same_controllers_are_ready(recording: Recording) -> None:
    recorded_gate.check(recording)


@pytest.mark.parametrize(
    "recording",
    [
        each
        for each in cases("registration-events.jsonl")
        if not each.values[0] or each.values[0]["controller"] in EVENTS
    ],
)
def test_the_same_events_enqueue_keys(recording: Recording) -> None:
    EVENTS[recording["controller"]](recording)
