"""How ManagedResources end, with all that belongs to them: at once, when something hangs, and with their namespace."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import (
    annotated,
    cluster_role,
    config_map,
    deployment,
    named,
    service_account,
)
from tests.e2e.managed_resources.sandbox import FINALIZER, SETTLED, ManagedResourceSandbox

HANGS = {"metadata": {"finalizers": ["tests.hedgerow.dev/hangs"]}}


def test_a_deleted_managed_resource_takes_its_objects_along_and_lets_its_secret_go(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    objects = [config_map(sandbox.namespace, "settings"), cluster_role(f"{sandbox.namespace}:reader")]
    managed = sandbox.deliver("shop", *objects)
    sandbox.wait_until_applied(expected=SETTLED)
    secret = sandbox.secret("shop")
    own = f"{FINALIZER}-{sandbox.class_name}"
    sandbox.wait_for(lambda: sandbox.get(secret)["metadata"].get("finalizers") == [own], "the Secret is held")

    sandbox.delete(managed)
    sandbox.wait_until_gone(managed, *objects)

    sandbox.wait_for(lambda: "finalizers" not in sandbox.get(secret)["metadata"], "the Secret is free")


def test_objects_that_are_to_be_kept_outlive_their_managed_resource(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    settings = config_map(sandbox.namespace, "settings")
    managed = sandbox.deliver("shop", settings, keepObjects=True)
    sandbox.wait_until_applied()
    uid = sandbox.uid(settings)

    sandbox.delete(managed)
    sandbox.wait_until_gone(managed)

    assert sandbox.uid(settings) == uid


def test_deletions_that_hang_are_told_once_and_end_when_they_may(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    objects = [config_map(sandbox.namespace, name) for name in ("a", "b")]
    managed = sandbox.deliver("shop", *objects)
    sandbox.wait_until_applied(expected=SETTLED)
    for each in objects:
        sandbox.patch(each, HANGS)

    sandbox.delete(managed)
    pending = [f'deletion of old resource "v1/ConfigMap/{sandbox.namespace}/{name}" is still pending' for name in "ab"]
    message = f"Could not clean all old resources: 2 errors occurred: [{', '.join(pending)}]"
    sandbox.wait_for_condition(managed, "ResourcesApplied", ("Progressing", "DeletionPending", message))
    position, looks = sandbox.control_plane.audit_position(), manager.reconciliations()
    manager.wait_for(lambda: manager.reconciliations() >= looks + 2, "has not looked twice again")
    assert sandbox.writes(position, resource="managedresources") == []

    for each in objects:
        sandbox.patch(each, {"metadata": {"finalizers": None}})
    sandbox.wait_until_gone(managed)


def test_an_object_whose_deletion_may_be_finalized_does_not_hang(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    settings = annotated(config_map(sandbox.namespace, "settings"), finalize_deletion_after="1s")
    managed = sandbox.deliver("shop", settings)
    sandbox.wait_until_applied()
    sandbox.patch(settings, HANGS)

    sandbox.delete(managed)

    sandbox.wait_until_gone(settings, managed)


@pytest.fixture
def manager_at_home(sandbox: ManagedResourceSandbox) -> Iterator[Manager]:
    """A process whose account does not go with the namespace that it looks after."""
    home = f"{sandbox.namespace}-home"
    sandbox.create(named("v1", "Namespace", "", home))
    connection = {"kubeconfig": str(sandbox.account(home))}
    with Manager(sandbox.folder, {**sandbox.configuration(), "sourceClientConnection": connection}) as running:
        running.wait_ready()
        yield running


def test_a_namespace_that_is_deleted_goes_with_all_that_its_managed_resources_brought(
    sandbox: ManagedResourceSandbox, manager_at_home: Manager
) -> None:
    wide = cluster_role(f"{sandbox.namespace}:reader")
    inside = [
        config_map(sandbox.namespace, "settings"),
        service_account(sandbox.namespace, "robot"),
        deployment(sandbox.namespace, "web"),
    ]
    managed = sandbox.deliver("shop", wide, *inside)
    sandbox.wait_until_applied(expected=SETTLED)

    namespace = named("v1", "Namespace", "", sandbox.namespace)
    sandbox.delete(namespace)

    sandbox.wait_until_gone(managed, wide, namespace)
