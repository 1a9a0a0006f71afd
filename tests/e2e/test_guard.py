"""A process that is pointed at the wrong cluster deletes nothing there, and says so."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager
from tests.e2e.sandbox import Sandbox


@pytest.fixture(scope="module")
def elsewhere(servers: Path) -> Iterator[ControlPlane]:
    """Another cluster, in which no test leaves anything behind."""
    with ControlPlane() as running:
        yield running


@pytest.fixture
def restored(sandbox: Sandbox, elsewhere: ControlPlane, tmp_path: Path) -> Iterator[Sandbox]:
    """The same sandbox in the other cluster, where somebody restored the policies of this one and nothing else."""
    manifests = landscape(sandbox, shoots=2)
    sandbox.create(*manifests)
    with ResourceManager(sandbox.folder, sandbox.configuration(offline_settings(sandbox))) as process:
        sandbox.wait_for_policies(simulated(sandbox, manifests, process.config_file))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    copy = Sandbox(elsewhere, sandbox.prefix, folder)
    copy.create(*(each for each in manifests if each["kind"] == "Namespace"))
    for policy in sandbox.objects("NetworkPolicy").values():
        names = {name: policy["metadata"][name] for name in ("namespace", "name", "labels", "annotations")}
        copy.create(
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "NetworkPolicy",
                "metadata": names,
                "spec": policy["spec"],
            }
        )
    yield copy
    copy.clear()


def test_a_kubeconfig_of_a_cluster_without_services_costs_no_policy(restored: Sandbox) -> None:
    before = restored.objects("NetworkPolicy")
    assert len(before) > 20
    position = restored.control_plane.audit_position()

    with ResourceManager(restored.folder, restored.configuration(offline_settings(restored))) as process:
        line = process.wait_for_line("Held deletions back")
        process.wait_for(lambda: restored.events_of(NETWORK_POLICIES), "has not recorded the event")
        process.wait_until_idle()
        assert process.metric("hedgerow_deletion_guard_stops_total", controller="networkpolicy") >= 1
        assert process.probe("/readyz") == (200, "ok")
        assert process.terminate() == 0

    assert line["level"] == "error"
    assert {
        (event["type"], event["reason"], event["note"].partition(";")[0])
        for event in restored.events_of(NETWORK_POLICIES)
    } == {
        (
            "Warning",
            "DeletionsHeld",
            f"deletions are held back: {len(before)} of {len(before)} owned objects would be deleted",
        )
    }
    assert set(restored.writes(position)) == {"create events"}
    assert restored.objects("NetworkPolicy") == before


@pytest.mark.slow
def test_a_guard_that_held_deletions_lets_single_ones_go_once_the_services_are_there(restored: Sandbox) -> None:
    config = restored.configuration(offline_settings(restored))
    manifests = landscape(restored, shoots=2)
    gone = f"{restored.prefix}-shoot-1"
    left = [
        each for each in manifests if (each["metadata"].get("namespace"), each["metadata"]["name"]) != (gone, "etcd")
    ]

    with ResourceManager(restored.folder, config) as process:
        process.wait_for_line("Held deletions back")
        restored.create(*(each for each in manifests if each["kind"] != "Namespace"))
        process.wait_until_idle()
        assert len(restored.policies()) == len(simulated(restored, manifests, process.config_file))
        restored.delete("Service", gone, "etcd")
        restored.wait_for_policies(simulated(restored, left, process.config_file))


def test_an_annotation_of_the_namespaces_lets_held_deletions_go(restored: Sandbox) -> None:
    namespaces = {policy["metadata"]["namespace"] for policy in restored.objects("NetworkPolicy").values()}
    plane = restored.control_plane

    def ways() -> dict[str, str]:
        notes = [event["note"] for event in restored.events_of(NETWORK_POLICIES) if event["reason"] == "DeletionsHeld"]
        return dict(found for note in notes for found in re.findall(r"annotate Namespace (\S+) with (\S+=\w+)", note))

    with ResourceManager(restored.folder, restored.configuration(offline_settings(restored))) as process:
        process.wait_for(lambda: ways().keys() >= namespaces, "has not told how to allow the deletions")
        for namespace, way in ways().items():
            plane.kubectl("annotate", "namespace", namespace, way)
        restored.wait_for_policies(set(), timeout=120)
        process.wait_for(
            lambda: "DeletionsAllowed" in {event["reason"] for event in restored.events_of(NETWORK_POLICIES)},
            "has not told that the annotation was used",
        )
