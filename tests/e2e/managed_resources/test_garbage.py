"""Old ConfigMaps and Secrets that nothing refers to any more are removed, and nothing else is."""

from tests.e2e.managed_resources.estate import SETTLED, Estate
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map, deployment, managed_resource, plain_secret, secret_of
from tests.e2e.managed_resources.places import Manifest

COLLECTABLE = {"resources.gardener.cloud/garbage-collectable-reference": "true"}
REFERENCE = "reference.resources.gardener.cloud/configmap-00000000"


def collectable(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": COLLECTABLE}}


def test_what_is_old_and_unused_is_removed_and_nothing_else(estate: Estate) -> None:
    home = estate.namespace
    used, unused, young = (collectable(config_map(home, name)) for name in ("used", "unused", "young"))
    plain, password = config_map(home, "plain"), collectable(plain_secret(home, "password"))
    user = deployment(home, "web")
    user["metadata"]["annotations"] = {REFERENCE: "used"}
    estate.create(used, unused, young, plain, password, user)
    for each in (used, unused, plain):
        estate.control_plane.make_old("configmaps", home, each["metadata"]["name"])
    estate.control_plane.make_old("secrets", home, "password")

    config = estate.configuration(controllers={"garbageCollector": {"enabled": True, "syncPeriod": "15s"}})
    with Manager(estate.folder, config) as manager:
        manager.wait_ready()
        estate.wait_until_gone(unused, password)
        assert [estate.find(each) is not None for each in (used, young, plain)] == [True] * 3
        assert manager.terminate() == 0


def test_a_secret_that_its_managed_resource_no_longer_names_is_removed_with_the_collector_on(estate: Estate) -> None:
    home, settings = estate.namespace, config_map(estate.namespace, "settings")
    old, new = (collectable(secret_of(home, name, [settings])) for name in ("old", "new"))
    managed = managed_resource(home, "shop", "old", class_name=estate.class_name)
    managed["metadata"]["annotations"] = _reference("old")
    estate.create(old, new, managed)
    config = estate.configuration(controllers={"garbageCollector": {"enabled": True, "syncPeriod": "15s"}})
    with Manager(estate.folder, config) as manager:
        estate.wait_until_applied(expected=SETTLED)
        estate.patch(
            managed, {"spec": {"secretRefs": [{"name": "new"}]}, "metadata": {"annotations": _reference("new")}}
        )
        estate.wait_for(lambda: "finalizers" not in estate.get(old)["metadata"], "the old Secret is free")
        assert manager.terminate() == 0
    for name in ("old", "new"):
        estate.control_plane.make_old("secrets", home, name)

    with Manager(estate.folder, config, name="later"):
        estate.wait_until_gone(old)
    assert estate.find(new) is not None
    assert estate.find(settings) is not None


def _reference(secret: str) -> dict[str, str]:
    return {"reference.resources.gardener.cloud/secret-00000000": secret}
