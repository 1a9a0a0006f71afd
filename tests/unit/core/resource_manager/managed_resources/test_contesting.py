"""Who is told that another ManagedResource wants the same object."""

from typing import Final

from hedgerow.api.managed_resources import KEEP_OBJECT, MANAGED_RESOURCES
from hedgerow.machinery.objects import ObjectKey
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    Harness,
    config_map,
    managed_resource,
    secret,
)

OTHER: Final = ObjectKey("default", "other")
TOLD: Final = (
    'Warning ContestedResources: wanted by other ManagedResources as well: "/ConfigMap/default/a" by default/other',
)


def taken_over() -> Harness:
    """Another ManagedResource has come to want an object, and has taken it."""
    made = Harness()
    made.put(secret("s", objects=[config_map("a")]), managed_resource("s"))
    made.turn()
    made.put(secret("o", objects=[config_map("a", {"k": "other"})]), managed_resource("o", name=OTHER.name))
    assert made.turn(OTHER).events == (), "it has had it never before"
    return made


def test_who_takes_an_object_back_is_told_who_wants_it_as_well() -> None:
    assert taken_over().turn().events == TOLD


def test_one_that_nobody_else_wants_any_more_is_taken_back_without_a_word() -> None:
    made = taken_over()
    made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {KEEP_OBJECT: "true"}}})
    made.put(secret("o", objects=[config_map("b")]))
    made.turn(OTHER)

    report = made.turn()

    assert report.writes == ["Update ConfigMap default/a"]
    assert report.events == ()


def test_one_of_a_managed_resource_that_goes_is_taken_back_without_a_word() -> None:
    made = taken_over()
    made.delete(MANAGED_RESOURCES, OTHER.name)

    report = made.turn()

    assert report.writes == ["Update ConfigMap default/a"]
    assert report.events == ()


def test_who_takes_several_objects_back_is_told_of_all_in_one_event() -> None:
    made = Harness()
    made.put(secret("s", objects=[config_map("a"), config_map("b")]), managed_resource("s"))
    made.turn()
    others = [config_map("a", {"k": "other"}), config_map("b", {"k": "other"})]
    made.put(secret("o", objects=others), managed_resource("o", name=OTHER.name))
    made.turn(OTHER)

    (told,) = made.turn().events
    assert told.endswith('"/ConfigMap/default/a" by default/other, "/ConfigMap/default/b" by default/other')
