"""The installed process in a real seed, with the resource manager beside it that applies the cleaner."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.resource_manager import ResourceManager, configuration, errors_of
from tests.e2e.rsyslog.seed import TYPE, ExtensionProcess, Shoot

FINALIZER = f"extensions.gardener.cloud/{TYPE}"


@pytest.fixture
def resource_manager(seed: ControlPlane, tmp_path: Path) -> Iterator[ResourceManager]:
    """The resource manager that looks after ManagedResources without a class."""
    with ResourceManager(tmp_path, configuration(seed.kubeconfig(), network_policy={"enabled": False})) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def extension(shoot: Shoot, tmp_path: Path) -> Iterator[ExtensionProcess]:
    """The extension's process."""
    with ExtensionProcess(tmp_path, shoot.settings(), name="extension") as running:
        running.wait_ready()
        yield running


def until(is_so: Any, what: str) -> None:
    wait_until(is_so, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not within {PATIENCE} s: {what}"))


def reached(shoot: Shoot, operation: str, state: str = "Succeeded") -> None:
    until(lambda: shoot.last_operation == (operation, state), f"{operation} {state}: {shoot.last_operation}")


@pytest.mark.usefixtures("resource_manager")
def test_an_extension_comes_and_goes_when_every_node_is_clean(shoot: Shoot, extension: ExtensionProcess) -> None:
    shoot.enable()
    reached(shoot, "Create")
    assert shoot.extension["metadata"]["finalizers"] == [FINALIZER]
    assert "scrape_config" in shoot.monitoring["data"]

    shoot.disable()
    until(lambda: shoot.extension is None, "the Extension goes")

    assert (shoot.cleaner, shoot.monitoring) == (None, None)
    until(lambda: shoot.daemon_set is None, "the cleaner goes")
    assert errors_of(extension.log_lines()) == []


def test_a_cleaner_that_nobody_applies_holds_the_extension(
    seed: ControlPlane, shoot: Shoot, extension: ExtensionProcess
) -> None:
    shoot.enable()
    reached(shoot, "Create")

    shoot.disable()
    until(lambda: shoot.cleaner is not None, "the cleaner is there")
    other = Shoot(seed, f"{shoot.namespace}-other")
    other.enable()
    reached(other, "Create")  # the process had time to release the first one
    other.clear()

    assert shoot.last_operation == ("Delete", "Processing")
    assert shoot.extension["metadata"]["finalizers"] == [FINALIZER]
    assert errors_of(extension.log_lines()) == []


@pytest.mark.usefixtures("extension")
def test_an_extension_moves_to_another_seed_and_back(shoot: Shoot) -> None:
    shoot.enable()
    reached(shoot, "Create")

    shoot.ask_for("migrate")
    reached(shoot, "Migrate")
    until(lambda: not shoot.extension["metadata"].get("finalizers"), "nothing holds it")
    until(lambda: not shoot.extension["metadata"].get("annotations"), "the request is taken off")
    assert shoot.cleaner is None

    shoot.ask_for("restore")
    reached(shoot, "Restore")
    until(lambda: not shoot.extension["metadata"].get("annotations"), "the request is taken off")
    assert shoot.extension["metadata"]["finalizers"] == [FINALIZER]


def test_a_leader_that_dies_while_it_waits_is_followed_by_one_that_finishes(
    seed: ControlPlane, shoot: Shoot, tmp_path: Path
) -> None:
    election = {"leaderElect": True, "resourceNamespace": "default", "resourceName": shoot.namespace}
    short = {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}
    settings = shoot.settings(leaderElection={**election, **short})
    with (
        ExtensionProcess(tmp_path, settings, name="first") as first,
        ExtensionProcess(tmp_path, settings, name="second") as second,
    ):
        shoot.enable()
        reached(shoot, "Create")
        leader, other = (first, second) if first.log_lines("Starting workers") else (second, first)
        shoot.disable()
        until(lambda: shoot.cleaner is not None, "the cleaner is there")
        leader.kill()
        with ResourceManager(tmp_path, configuration(seed.kubeconfig(), network_policy={"enabled": False})):
            until(lambda: shoot.extension is None, "the Extension goes")
        assert other.log_lines("Starting workers")
    assert shoot.cleaner is None


@pytest.mark.usefixtures("extension")
def test_a_heart_beats_where_it_is_told_to(seed: ControlPlane, shoot: Shoot, tmp_path: Path) -> None:
    heartbeat = {"enabled": True, "namespace": shoot.namespace, "renewInterval": "1s"}
    settings = shoot.settings(controllers={"heartbeat": heartbeat, "lifecycle": {"enabled": False}})
    path = f"/apis/coordination.k8s.io/v1/namespaces/{shoot.namespace}/leases/gardener-extension-heartbeat"

    def renewed() -> str:
        spec: Any = seed.request("GET", path)[1].get("spec") or {}
        assert spec.get("holderIdentity") in {None, TYPE}
        return str(spec.get("renewTime", ""))

    with ExtensionProcess(tmp_path, settings, name="heart"):
        until(renewed, "the Lease is there")
        first = renewed()
        until(lambda: renewed() > first, "the Lease is renewed")
