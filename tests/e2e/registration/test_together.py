"""From the registration of an extension to its success in a seed, and off again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import DEPLOYMENTS, NAMESPACES
from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS
from tests.e2e.registration.landscape import ControllerManager, Landscape, SeedExtensions, until
from tests.e2e.resource_manager import ResourceManager, configuration, errors_of, run_here
from tests.e2e.rsyslog.seed import TYPE, ExtensionProcess

SHOOT_NAMESPACE = "shoot--garden--foo"
HELD = "because still found ControllerInstallations: "
READY = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}
VALUES = "config: {webhooks: {operatingSystemConfig: {enabled: false}}}\n"


pytestmark = pytest.mark.slow


@pytest.fixture
def processes(landscape: Landscape, helm: Path, tmp_path: Path) -> Iterator[list[ResourceManager]]:
    """The processes of the garden and of the seed, the resource manager of the seed among them."""
    of_seed, of_shoot = (
        configuration(
            landscape.seed.control_plane.kubeconfig(),
            controllers={
                "resourceClass": name,
                "managedResource": {},
                "health": {},
                "networkPolicy": {"enabled": False},
            },
        )
        for name in ("seed", "resources")
    )
    with (
        ControllerManager(tmp_path, landscape.controller_manager(), name="garden") as garden,
        SeedExtensions(tmp_path, landscape.seed_extensions(helm), name="seed") as seed,
        ResourceManager(tmp_path, of_seed, name="resources") as resources,
        ResourceManager(tmp_path, of_shoot, name="resources-of-shoot") as resources_of_shoot,
    ):
        running = [garden, seed, resources, resources_of_shoot]
        for process in running:
            process.wait_ready()
        yield running


def registered(landscape: Landscape, folder: Path) -> None:
    """What an operator applies to register the extension."""
    values = folder / "values.yaml"
    values.write_text(VALUES)
    printed = run_here("install", "rsyslog-relp", "--as", "controller-registration", "-f", str(values))
    assert printed.returncode == 0, printed.stderr
    landscape.garden.control_plane.kubectl("apply", "-f", "-", input=printed.stdout)


def test_an_extension_is_installed_as_long_as_something_needs_it(
    landscape: Landscape, processes: list[ResourceManager], tmp_path: Path
) -> None:
    registered(landscape, tmp_path)
    until(
        lambda: (landscape.garden.get(CONTROLLER_REGISTRATIONS, TYPE) or {})["metadata"].get("finalizers"),
        "the registration is protected",
    )
    assert landscape.installation(TYPE) is None, "nobody needs it"

    landscape.shoot("foo", TYPE)
    until(lambda: landscape.conditions(TYPE).items() >= READY.items(), f"installed: {landscape.conditions(TYPE)}")
    installation = landscape.installation(TYPE)["metadata"]["name"]
    namespace = f"extension-{installation}"
    (deployment,) = (each for each in landscape.seed.all(DEPLOYMENTS) if each["metadata"]["namespace"] == namespace)
    assert deployment["status"]["readyReplicas"] >= 1

    # Nothing runs in the pods: the process of the extension runs beside them.
    settings = {
        "apiVersion": "rsyslog-relp.extensions.config.gardener.cloud/v1alpha1",
        "kind": "Configuration",
        "clientConnection": {"kubeconfig": str(landscape.seed.control_plane.kubeconfig())},
        "leaderElection": {"leaderElect": False},
        "webhooks": {"operatingSystemConfig": {"enabled": False}},
    }
    shoot = {"metadata": {"name": "foo", "uid": "uid"}, "spec": {}, "status": {}}
    landscape.seed.create(NAMESPACES, SHOOT_NAMESPACE)
    landscape.seed.create(CLUSTERS, SHOOT_NAMESPACE, spec={"shoot": shoot})
    with ExtensionProcess(tmp_path, settings, name="extension") as extension:
        extension.wait_ready()
        landscape.seed.create(EXTENSIONS, TYPE, SHOOT_NAMESPACE, spec={"type": TYPE})
        until(lambda: succeeded(landscape), "the Extension succeeds")
        until(lambda: landscape.conditions(TYPE).get("Required") == "True", "it is required")

        landscape.garden.delete(SHOOTS, "foo", "garden-foo")
        landscape.garden.delete(CONTROLLER_REGISTRATIONS, TYPE)
        until(
            lambda: landscape.garden.get(CONTROLLER_REGISTRATIONS, TYPE)["metadata"].get("deletionTimestamp"),
            "it is held by its finalizer",
        )
        landscape.seed.delete(EXTENSIONS, TYPE, SHOOT_NAMESPACE)
        until(lambda: landscape.extension(SHOOT_NAMESPACE, TYPE) is None, "the Extension goes")

    until(lambda: landscape.has_gone(TYPE), "the extension goes")
    landscape.garden.delete(CONTROLLER_DEPLOYMENTS, TYPE)
    until(lambda: landscape.garden.get(CONTROLLER_DEPLOYMENTS, TYPE) is None, "its deployment goes")
    errors = [error for process in processes for error in errors_of(process.log_lines())]
    assert [error for error in errors if HELD not in error] == []


def succeeded(landscape: Landscape) -> bool:
    status = (landscape.extension(SHOOT_NAMESPACE, TYPE) or {}).get("status") or {}
    return (status.get("lastOperation") or {}).get("state") == "Succeeded"
