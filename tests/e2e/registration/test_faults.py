"""What goes wrong while extensions are installed harms nothing else, and in the end everything is as it should be."""

import http.client
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS
from hedgerow.machinery.objects import Manifest
from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.hasty import HastyResourceManager
from tests.e2e.registration.landscape import ControllerManager, Landscape, Objects, SeedExtensions, until
from tests.e2e.resource_manager import errors_of

CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: {{ .Release.Namespace }}}
data: {text: {{ repeat %d "x" }}}
"""
SMALL, LARGE = CONFIG_MAP % 10, CONFIG_MAP % (1100 * 1024)
INSTALLING_ALONE = {
    name: {"enabled": False}
    for name in ("controllerInstallationCare", "controllerInstallationRequired", "seedExtensionsCheck")
}

pytestmark = pytest.mark.slow


class HastySeedExtensions(HastyResourceManager):
    """The process of the seed, with other constants."""

    component: ClassVar[str] = "seed-extensions"


def test_a_chart_that_fits_into_no_secret_is_told_and_harms_no_other(
    landscape: Landscape, helm: Path, tmp_path: Path
) -> None:
    landscape.install("large", LARGE)
    configuration = landscape.seed_extensions(helm, controllers=INSTALLING_ALONE)
    with SeedExtensions(tmp_path, configuration) as process:
        until(lambda: landscape.condition("large", "Installed")[0] == "InstallationFailed", "the large one is told")
        landscape.install("small", SMALL)
        until(lambda: landscape.conditions("small").get("Valid") == "True", "the small one is installed")
        assert process.terminate() == 0

    message = landscape.condition("large", "Installed")[1]
    assert message.startswith('Creation of ManagedResource "large" failed: ')
    assert "1048576" in message
    assert landscape.conditions("large")["Valid"] == "True"
    assert landscape.delivered("large") == ([], [], True)
    assert [len(each) for each in landscape.delivered("small")[:2]] == [1, 1]


def test_an_extension_is_installed_once_the_seed_is_reachable_again(
    landscape: Landscape, helm: Path, tmp_path: Path
) -> None:
    seed = landscape.seed.control_plane
    with FaultProxy(int(seed.url.rpartition(":")[2])) as proxy:
        connection = {"kubeconfig": str(proxy.kubeconfig(seed.kubeconfig()))}
        configuration = landscape.seed_extensions(helm, targetClientConnection=connection)
        with SeedExtensions(tmp_path, configuration) as process:
            process.wait_ready()
            with proxy.refusing():
                proxy.reset_all()
                landscape.install("late", SMALL)
                process.wait_for(
                    lambda: any("late" in error for error in errors_of(process.log_lines())), "has not failed"
                )
                assert landscape.delivered("late") == ([], [], False)
            until(lambda: landscape.conditions("late").get("Valid") == "True", "it is installed")
            # No resource manager runs.
            until(lambda: landscape.condition("late", "Installed")[0] == "InstallationPending", "it is judged")
            process.wait_ready()
            assert process.terminate() == 0

    assert [len(each) for each in landscape.delivered("late")[:2]] == [1, 1]


def test_a_process_that_is_killed_after_each_of_its_writes_installs_and_uninstalls_once(
    landscape: Landscape, helm: Path, tmp_path: Path
) -> None:
    landscape.install("often", SMALL)
    lives = itertools.count()

    def live(what: str) -> None:
        """Kill each process after its first write until one finds nothing to do."""
        while not is_done():
            number = next(lives)
            constants = {"hedgerow.registration.installing.WAIT": 0.1}
            with HastySeedExtensions(tmp_path, configuration, constants, name=f"life-{number}") as process:
                process.wait_for(lambda: process.log_lines("Carried out") or is_done(), f"does nothing, but {what}")
                process.kill()

    def is_done() -> bool:
        installation = landscape.installation("often")
        if is_to_go:
            return installation is None
        return landscape.conditions("often").get("Installed") == "False"

    is_to_go = False
    with _slowed(landscape.garden) as garden, _slowed(landscape.seed) as seed:
        configuration = landscape.seed_extensions(
            helm,
            controllers=INSTALLING_ALONE,
            sourceClientConnection={"kubeconfig": str(garden)},
            targetClientConnection={"kubeconfig": str(seed)},
        )
        live("it is to install")
        secrets, managed_resources, has_namespace = landscape.delivered("often")
        assert (len(secrets), managed_resources, has_namespace) == (1, ["often"], True)

        is_to_go = True
        landscape.garden.delete(CONTROLLER_INSTALLATIONS, "often")
        live("it is to uninstall")
    assert landscape.delivered("often") == ([], [], False)
    assert next(lives) > 5, "finalizer, Namespace, Secret, ManagedResource and conditions are a write each"


@contextmanager
def _slowed(cluster: Objects) -> Iterator[Path]:
    """A kubeconfig of a cluster that answers so late that a process can be killed between two requests."""
    plane = cluster.control_plane
    with FaultProxy(int(plane.url.rpartition(":")[2])) as proxy, proxy.delaying(0.1):
        yield proxy.kubeconfig(plane.kubeconfig())


def test_two_processes_of_a_garden_never_make_two_installations(landscape: Landscape, tmp_path: Path) -> None:
    names = [f"extension-{number}" for number in range(10)]
    since = landscape.garden.control_plane.audit_position()
    for name in names:
        landscape.register(name, SMALL, name)
    configuration = landscape.controller_manager()
    with (
        ControllerManager(tmp_path, configuration, name="one") as one,
        ControllerManager(tmp_path, configuration, name="other") as other,
    ):
        one.wait_ready()
        other.wait_ready()
        for number, name in enumerate(names):
            landscape.shoot(f"shoot-{number}", name)
        until(lambda: all(landscape.installation(name) for name in names), "all are installed")
        for process in (one, other):
            assert process.terminate() == 0

    created = [
        event["objectRef"]["name"]
        for event in landscape.garden.control_plane.audit_events(verbs={"create"}, since=since)
        if event["objectRef"]["resource"] == CONTROLLER_INSTALLATIONS.plural and _is_created(event)
    ]
    assert len(created) == len({*created}) == len(names) + 1, "those of the test, and the provider's"


def _is_created(event: Manifest) -> bool:
    code: int = event["responseStatus"]["code"]
    return code == http.client.CREATED
