"""How ManagedResources end, with all that belongs to them: at once, when something hangs, and with their namespace."""

from collections.abc import Iterator

import pytest

from tests.e2e.managed_resources.estate import FINALIZER, SETTLED, Estate
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import (
    annotated,
    cluster_role,
    config_map,
    deployment,
    named,
    service_account,
)

HANGS = {"metadata": {"finalizers": ["tests.hedgerow.dev/hangs"]}}


def test_a_deleted_managed_resource_takes_its_objects_along_and_lets_its_secret_go(
    estate: Estate, manager: Manager
) -> None:
    objects = [config_map(estate.namespace, "settings"), cluster_role(f"{estate.namespace}:reader")]
    managed = estate.deliver("shop", *objects)
    estate.wait_until_applied(expected=SETTLED)
    secret = estate.secret("shop")
    own = f"{FINALIZER}-{estate.class_name}"
    estate.wait_for(lambda: estate.get(secret)["metadata"].get("finalizers") == [own], "the Secret is held")

    estate.delete(managed)
    estate.wait_until_gone(managed, *objects)

    estate.wait_for(lambda: "finalizers" not in estate.get(secret)["metadata"], "the Secret is free")


def test_objects_that_are_to_be_kept_outlive_their_managed_resource(estate: Estate, manager: Manager) -> None:
    settings = config_map(estate.namespace, "settings")
    managed = estate.deliver("shop", settings, keepObjects=True)
    estate.wait_until_applied()
    uid = estate.uid(settings)

    estate.delete(managed)
    estate.wait_until_gone(managed)

    assert estate.uid(settings) == uid


def test_deletions_that_hang_are_told_once_and_end_when_they_may(estate: Estate, manager: Manager) -> None:
    objects = [config_map(estate.namespace, name) for name in ("a", "b")]
    managed = estate.deliver("shop", *objects)
    estate.wait_until_applied(expected=SETTLED)
    for each in objects:
        estate.patch(each, HANGS)

    estate.delete(managed)
    pending = [f'deletion of old resource "v1/ConfigMap/{estate.namespace}/{name}" is still pending' for name in "ab"]
    message = f"Could not clean all old resources: 2 errors occurred: [{', '.join(pending)}]"
    estate.wait_for_condition(managed, "ResourcesApplied", ("Progressing", "DeletionPending", message))
    position, looks = estate.control_plane.audit_position(), manager.reconciliations()
    manager.wait_for(lambda: manager.reconciliations() >= looks + 2, "has not looked twice again")
    assert estate.writes(position, resource="managedresources") == []

    for each in objects:
        estate.patch(each, {"metadata": {"finalizers": None}})
    estate.wait_until_gone(managed)


def test_an_object_whose_deletion_may_be_finalized_does_not_hang(estate: Estate, manager: Manager) -> None:
    settings = annotated(config_map(estate.namespace, "settings"), finalize_deletion_after="1s")
    managed = estate.deliver("shop", settings)
    estate.wait_until_applied()
    estate.patch(settings, HANGS)

    estate.delete(managed)

    estate.wait_until_gone(settings, managed)


@pytest.fixture
def manager_at_home(estate: Estate) -> Iterator[Manager]:
    """A process whose account does not go with the namespace that it looks after."""
    home = f"{estate.namespace}-home"
    estate.create(named("v1", "Namespace", "", home))
    connection = {"kubeconfig": str(estate.account(home))}
    with Manager(estate.folder, {**estate.configuration(), "sourceClientConnection": connection}) as running:
        running.wait_ready()
        yield running


def test_a_namespace_that_is_deleted_goes_with_all_that_its_managed_resources_brought(
    estate: Estate, manager_at_home: Manager
) -> None:
    wide = cluster_role(f"{estate.namespace}:reader")
    inside = [
        config_map(estate.namespace, "settings"),
        service_account(estate.namespace, "robot"),
        deployment(estate.namespace, "web"),
    ]
    managed = estate.deliver("shop", wide, *inside)
    estate.wait_until_applied(expected=SETTLED)

    namespace = named("v1", "Namespace", "", estate.namespace)
    estate.delete(namespace)

    estate.wait_until_gone(managed, wide, namespace)
