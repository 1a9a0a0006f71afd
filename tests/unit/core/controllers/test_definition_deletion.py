"""Deleting a definition deletes its objects, but nothing that these stand for: whatever dies or lags meanwhile."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import LIMIT_RANGES
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.plan import Delete
from hedgerow.resource_manager.managed_resources import ManagedResourceConfig, managed_resource_controller
from hedgerow_adapters.memory.kinds import Kind
from tests.unit.core.controllers.definitions import lose_definitions
from tests.unit.core.controllers.installation_worlds import installed_charts
from tests.unit.core.controllers.registration_worlds import REGISTRATION_WORLDS
from tests.unit.core.controllers.stage import CrashError, Stage, World, in_source
from tests.unit.core.controllers.worlds import WORLDS as OTHER_WORLDS
from tests.unit.core.resource_manager.managed_resources import harness

DELIVERED: Final = [harness.config_map(name) for name in ("a", "b")]


@st.composite
def deliveries(draw: st.DrawFn) -> World:
    """A ManagedResource with some objects."""
    names = draw(st.lists(st.sampled_from(["a", "b"]), unique=True, min_size=1))
    objects = [each for each in DELIVERED if each["metadata"]["name"] in names]
    secret = {"apiVersion": "v1", "kind": "Secret", **harness.secret(objects=objects)}
    subject, payload = in_source(harness.managed_resource("secret"), secret)
    defined = Kind(MANAGED_RESOURCES, has_status=True, has_generation=True)
    kinds = (defined, Kind(HVPAS), Kind(LIMIT_RANGES))
    return World(managed_resource_controller(ManagedResourceConfig()), (subject, payload), subject, kinds=kinds)


WORLDS: Final[dict[str, Callable[[], st.SearchStrategy[World]]]] = {
    "managedresource": deliveries,
    "controllerinstallation": installed_charts,
    **{name: REGISTRATION_WORLDS[name] for name in ("controllerregistration-seed", "shoot-extensions")},
    **{name: OTHER_WORLDS[name] for name in ("shoot_rsyslog_relp_lifecycle_controller",)},
}
"""The controllers that delete what their objects stand for."""


@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=50)
@given(data=st.data(), lags=st.lists(st.integers(0, 5), min_size=1, max_size=4), dies_at=st.integers(0, 30))
def test_nothing_is_deleted_for_it(name: str, data: st.DataObject, lags: list[int], dies_at: int) -> None:
    world = data.draw(WORLDS[name]())
    defined = [kind for kind in world.kinds if kind.resource.group.endswith("gardener.cloud")]
    some = st.lists(st.sampled_from(defined), min_size=1, max_size=3, unique_by=lambda kind: kind.resource)
    stage = Stage(world)
    stage.settle()
    lose_definitions(stage, data.draw(some))
    before = len(stage.sent)

    def die(now: int) -> None:
        if now - begun == dies_at:
            raise CrashError

    begun, stage.at_moment = stage.moments, die
    for lag in lags:
        stage.lag = lag
        with suppress(CrashError):
            stage.round()
    stage.restart()
    stage.lag = 0
    stage.in_the_end()

    assert [action for action in stage.sent[before:] if isinstance(action, Delete)] == []
