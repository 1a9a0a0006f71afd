"""What holds for every controller, whatever happens meanwhile: one table of worlds, one test for each law."""

from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.plan import Delete, MergePatch, Update
from hedgerow_entrypoints.cli.controllers import NAMES
from tests.unit.core.controllers.installation_worlds import installed_charts
from tests.unit.core.controllers.registration_worlds import REGISTRATION_WORLDS
from tests.unit.core.controllers.stage import (
    LAGS,
    Stage,
    World,
    changes_of,
    crashed,
    disturbed,
    lagging,
    moments_of,
    settled,
)
from tests.unit.core.controllers.worlds import WORLDS as OTHER_WORLDS
from tests.unit.orders import ORDERS

WORLDS = {**OTHER_WORLDS, **REGISTRATION_WORLDS, "controllerinstallation": installed_charts}
FEW = settings(max_examples=15)
"""Each example runs a world once or twice for every moment in it."""
every_controller = pytest.mark.parametrize("name", WORLDS)
ELSEWHERE = {"managedresource", "health", "health-progressing"}
"""Controllers with properties of their own."""


def test_every_controller_has_a_world() -> None:
    assert {*NAMES} - ELSEWHERE == {*WORLDS}


@every_controller
@given(data=st.data())
def test_nothing_is_left_to_do_once_everything_was_done(name: str, data: st.DataObject) -> None:
    stage = settled(data.draw(WORLDS[name]()))

    assert stage.round() == []
    stage.restart()
    assert stage.round() == []


@every_controller
@given(data=st.data(), shuffle=ORDERS)
def test_the_order_of_what_is_found_makes_no_difference(name: str, data: st.DataObject, shuffle: Random) -> None:
    world = data.draw(WORLDS[name]())
    one, other = settled(world), Stage(world, shuffle)
    other.settle()

    assert one.turns == other.turns


@every_controller
@given(data=st.data())
def test_changes_and_deletions_name_the_object_that_they_were_decided_for(name: str, data: st.DataObject) -> None:
    world = data.draw(WORLDS[name]())
    for action in settled(world).sent:
        match action:
            case Delete():
                assert action.uid
                assert action.resource_version or action.reason in world.unconditional
            case MergePatch():
                assert action.resource_version or action.reason in world.unconditional
            case Update():
                assert action.manifest["metadata"]["resourceVersion"]


@every_controller
@FEW
@given(data=st.data())
def test_a_process_that_dies_at_any_moment_makes_no_difference_in_the_end(name: str, data: st.DataObject) -> None:
    world = data.draw(WORLDS[name]())
    expected = Stage(world).in_the_end()

    for moment in moments_of(world):
        assert crashed(world, moment).in_the_end() == expected, moment


def possible(world: World, change: str) -> list[dict[str, Manifest]]:
    """The outcomes of a world if decisions die at some moment, the change happens, and they begin anew."""
    outcomes = []
    for moment in moments_of(world):
        stage = crashed(world, moment)
        changes_of(world)[change](stage)
        outcomes.append(stage.in_the_end())
    return outcomes


@every_controller
@FEW
@given(data=st.data())
def test_a_decision_that_goes_on_after_a_change_does_no_more_than_one_that_has_died(
    name: str, data: st.DataObject
) -> None:
    world = data.draw(WORLDS[name]())
    change = data.draw(st.sampled_from(sorted(changes_of(world))))
    expected = possible(world, change)

    for moment in moments_of(world):
        assert disturbed(world, moment, changes_of(world)[change]).in_the_end() in expected, moment


OVERLOOKED: Final = frozenset({"a namesake of the Node"})
"""Changes that a cache has to show: a verdict about a request overlooks other Nodes that it does not show yet."""


@every_controller
@FEW
@given(data=st.data(), lags=LAGS, takes_over=st.booleans())
def test_caches_that_lag_behind_make_no_difference_in_the_end(
    name: str,
    data: st.DataObject,
    lags: list[int],
    takes_over: bool,  # noqa: FBT001 -- drawn
) -> None:
    world = data.draw(WORLDS[name]())
    change = data.draw(st.sampled_from(sorted(set(changes_of(world)) - OVERLOOKED)))

    assert lagging(world, change, lags, takes_over=takes_over).in_the_end() in possible(world, change)
