"""Old ConfigMaps and Secrets that nothing refers to any more are removed, and nothing else is."""

from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, deployment, managed_resource, plain_secret, secret_of
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest

COLLECTABLE = {"resources.gardener.cloud/garbage-collectable-reference": "true"}
REFERENCE = "reference.resources.gardener.cloud/configmap-00000000"


def collectable(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": COLLECTABLE}}


def make_definition_old(sandbox: ManagedResourceSandbox) -> None:
    """No Secret is garbage that is older than the definition of ManagedResource."""
    name = "managedresources.resources.gardener.cloud"
    sandbox.control_plane.make_old("apiextensions.k8s.io", "customresourcedefinitions", name)


def test_what_is_old_and_unused_is_removed_and_nothing_else(sandbox: ManagedResourceSandbox) -> None:
    home = sandbox.namespace
    used, unused, young = (collectable(config_map(home, name)) for name in ("used", "unused", "young"))
    plain, password = config_map(home, "plain"), collectable(plain_secret(home, "password"))
    user = deployment(home, "web")
    user["metadata"]["annotations"] = {REFERENCE: "used"}
    sandbox.create(used, unused, young, plain, password, user)
    for each in (used, unused, plain):
        sandbox.control_plane.make_old("configmaps", home, each["metadata"]["name"])
    sandbox.control_plane.make_old("secrets", home, "password")
    make_definition_old(sandbox)

    config = sandbox.configuration(controllers={"garbageCollector": {"enabled": True, "syncPeriod": "15s"}})
    with Manager(sandbox.folder, config) as manager:
        manager.wait_ready()
        sandbox.wait_until_gone(unused, password)
        assert [sandbox.find(each) is not None for each in (used, young, plain)] == [True] * 3
        assert manager.terminate() == 0


def test_a_secret_that_its_managed_resource_no_longer_names_is_removed_with_the_collector_on(
    sandbox: ManagedResourceSandbox,
) -> None:
    home, settings = sandbox.namespace, config_map(sandbox.namespace, "settings")
    old, new = (collectable(secret_of(home, name, [settings])) for name in ("old", "new"))
    managed = managed_resource(home, "shop", "old", class_name=sandbox.class_name)
    managed["metadata"]["annotations"] = _reference("old")
    sandbox.create(old, new, managed)
    config = sandbox.configuration(controllers={"garbageCollector": {"enabled": True, "syncPeriod": "15s"}})
    with Manager(sandbox.folder, config) as manager:
        sandbox.wait_until_applied(expected=SETTLED)
        sandbox.patch(
            managed, {"spec": {"secretRefs": [{"name": "new"}]}, "metadata": {"annotations": _reference("new")}}
        )
        sandbox.wait_for(lambda: "finalizers" not in sandbox.get(old)["metadata"], "the old Secret is free")
        assert manager.terminate() == 0
    for name in ("old", "new"):
        sandbox.control_plane.make_old("secrets", home, name)
    make_definition_old(sandbox)

    with Manager(sandbox.folder, config, name="later"):
        sandbox.wait_until_gone(old)
    assert sandbox.find(new) is not None
    assert sandbox.find(settings) is not None


def _reference(secret: str) -> dict[str, str]:
    return {"reference.resources.gardener.cloud/secret-00000000": secret}
