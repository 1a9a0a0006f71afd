"""A ManagedResource moves from one running process to another, and its objects do not notice."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.estate import FINALIZER, SETTLED, Estate, uids
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import cluster_role, config_map, deployment


@pytest.fixture
def other_class(estate: Estate) -> str:
    return f"{estate.class_name}-other"


@pytest.fixture
def other_manager(estate: Estate, other_class: str) -> Iterator[Manager]:
    with Manager(estate.folder, estate.configuration(class_name=other_class), name="other") as running:
        running.wait_ready()
        yield running


def test_a_change_of_class_hands_over_without_deleting_any_object(
    estate: Estate, manager: Manager, other_manager: Manager, other_class: str
) -> None:
    objects = [
        config_map(estate.namespace, "settings"),
        deployment(estate.namespace, "web"),
        cluster_role(f"{estate.namespace}:reader"),
    ]
    managed = estate.deliver("shop", *objects)
    estate.wait_until_applied(expected=SETTLED)
    before, position = uids(estate, objects), estate.control_plane.audit_position()

    estate.patch(managed, {"spec": {"class": other_class}})
    own = f"{FINALIZER}-{other_class}"
    estate.wait_for(lambda: estate.get(managed)["metadata"].get("finalizers") == [own], "the other process has it")
    estate.wait_until_applied(expected=SETTLED)
    secret = estate.secret("shop")
    estate.wait_for(lambda: estate.get(secret)["metadata"].get("finalizers") == [own], "and its Secret")

    assert uids(estate, objects) == before
    assert estate.writes(position, verb="delete") == []


def test_a_process_leaves_what_is_of_no_class_of_its_own(estate: Estate, manager: Manager, other_class: str) -> None:
    settings = config_map(estate.namespace, "settings")
    managed = estate.deliver("shop", settings, **{"class": other_class})
    witness = estate.deliver("witness", config_map(estate.namespace, "witness"))
    estate.wait_until_applied("witness")
    manager.wait_until_idle()

    assert estate.find(settings) is None
    assert "status" not in estate.get(managed)
    assert "finalizers" not in estate.get(managed)["metadata"]
    assert "status" in estate.get(witness)
