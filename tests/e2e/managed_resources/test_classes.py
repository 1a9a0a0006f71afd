"""A ManagedResource moves from one running process to another, and its objects do not notice."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import cluster_role, config_map, deployment
from tests.e2e.managed_resources.sandbox import FINALIZER, SETTLED, ManagedResourceSandbox, uids


@pytest.fixture
def other_class(sandbox: ManagedResourceSandbox) -> str:
    return f"{sandbox.class_name}-other"


@pytest.fixture
def other_manager(sandbox: ManagedResourceSandbox, other_class: str) -> Iterator[Manager]:
    with Manager(sandbox.folder, sandbox.configuration(class_name=other_class), name="other") as running:
        running.wait_ready()
        yield running


def test_a_change_of_class_hands_over_without_deleting_any_object(
    sandbox: ManagedResourceSandbox, manager: Manager, other_manager: Manager, other_class: str
) -> None:
    objects = [
        config_map(sandbox.namespace, "settings"),
        deployment(sandbox.namespace, "web"),
        cluster_role(f"{sandbox.namespace}:reader"),
    ]
    managed = sandbox.deliver("shop", *objects)
    sandbox.wait_until_applied(expected=SETTLED)
    before, position = uids(sandbox, objects), sandbox.control_plane.audit_position()

    sandbox.patch(managed, {"spec": {"class": other_class}})
    own = f"{FINALIZER}-{other_class}"
    sandbox.wait_for(lambda: sandbox.get(managed)["metadata"].get("finalizers") == [own], "the other process has it")
    sandbox.wait_until_applied(expected=SETTLED)
    secret = sandbox.secret("shop")
    sandbox.wait_for(lambda: sandbox.get(secret)["metadata"].get("finalizers") == [own], "and its Secret")

    assert uids(sandbox, objects) == before
    assert sandbox.writes(position, verb="delete") == []


def test_a_process_leaves_what_is_of_no_class_of_its_own(
    sandbox: ManagedResourceSandbox, manager: Manager, other_class: str
) -> None:
    settings = config_map(sandbox.namespace, "settings")
    managed = sandbox.deliver("shop", settings, **{"class": other_class})
    witness = sandbox.deliver("witness", config_map(sandbox.namespace, "witness"))
    sandbox.wait_until_applied("witness")
    manager.wait_until_idle()

    assert sandbox.find(settings) is None
    assert "status" not in sandbox.get(managed)
    assert "finalizers" not in sandbox.get(managed)["metadata"]
    assert "status" in sandbox.get(witness)
