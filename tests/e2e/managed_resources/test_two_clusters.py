"""ManagedResources of one cluster whose objects are in another: neither sees what is the other's."""

from pathlib import Path

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import (
    cluster_role,
    config_map,
    custom_definition,
    custom_object,
    named,
    plain_secret,
)
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox

SHOP = "shop"


@pytest.fixture
def target(control_plane: ControlPlane, tmp_path: Path) -> ManagedResourceSandbox:
    """The other cluster, which knows nothing of ManagedResources."""
    folder = tmp_path / "target"
    folder.mkdir()
    return ManagedResourceSandbox(control_plane, SHOP, folder)


def test_objects_are_applied_watched_and_deleted_in_the_target_and_the_rest_stays_in_the_source(
    sandbox: ManagedResourceSandbox, target: ManagedResourceSandbox
) -> None:
    objects = [
        config_map(SHOP, "settings", a="1"),
        plain_secret(SHOP, "password"),
        cluster_role("shop:reader"),
        custom_definition("Till"),
        custom_object("Till", SHOP, "front"),
    ]
    settings = objects[0]
    there = {"kubeconfig": str(target.kubeconfig)}
    config = sandbox.configuration(controllers={"clusterID": "source"}, targetClientConnection=there)
    with Manager(sandbox.folder, config) as manager:
        manager.wait_ready()
        managed = sandbox.deliver("shop", *objects)
        sandbox.wait_until_applied(expected=SETTLED)
        found = [target.get(each) for each in objects]
        assert {each["metadata"]["annotations"]["resources.gardener.cloud/origin"] for each in found} == {
            f"source:{sandbox.namespace}/shop"
        }
        assert sandbox.find(named("v1", "Namespace", "", SHOP)) is None
        assert sandbox.writes(0, resource="configmaps") == []

        target.patch(settings, {"data": {"a": "changed"}})
        target.wait_for(lambda: bool(target.get(settings)["data"] == {"a": "1"}), "the ConfigMap is as it was")
        target.delete(settings)
        target.wait_for(lambda: target.find(settings) is not None, "the ConfigMap is there again")

        sandbox.delete(managed)
        sandbox.wait_until_gone(managed)
        target.wait_until_gone(*objects)
        assert target.writes(0, resource="managedresources") == []
        assert manager.terminate() == 0
        assert manager.troubles() == []
