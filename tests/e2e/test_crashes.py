"""A process that is killed at six points of one convergence leaves nothing undone and nothing done twice."""

import signal
from functools import partial

import pytest
import yaml

from tests.e2e.gateways import DeadlyGateway
from tests.e2e.landscapes import controller_settings, landscape, simulated
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.territory import WRITES, Manifest, Territory

POINTS = 6


@pytest.fixture
def gateway(territory: Territory) -> DeadlyGateway:
    document = yaml.safe_load(territory.kubeconfig.read_text(encoding="utf-8"))
    return DeadlyGateway(territory.control_plane, document["users"][0]["user"]["token"])


def process_behind(gateway: DeadlyGateway, territory: Territory, name: str) -> ResourceManager:
    """A process that knows its API server by the gateway alone, and shows its own name there."""
    document = yaml.safe_load(territory.kubeconfig.read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"] = {"server": gateway.url}
    document["users"][0]["user"] = {"token": name}
    kubeconfig = territory.folder / f"{name}.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
    connection = {"kubeconfig": str(kubeconfig)}
    config = {**territory.configuration(controller_settings(territory)), "sourceClientConnection": connection}
    return ResourceManager(territory.folder, config, name=name)


def test_six_crashes_cost_no_policy_and_write_none_twice(territory: Territory, gateway: DeadlyGateway) -> None:
    manifests = landscape(territory, shoots=6)
    territory.create(*manifests)
    survivor = process_behind(gateway, territory, "survivor")
    expected = simulated(territory, manifests, survivor.config_file)
    position = territory.control_plane.audit_position()
    each = len(expected) // POINTS
    assert each > 1

    with gateway:
        for point in range(POINTS):
            with process_behind(gateway, territory, f"victim-{point}") as victim:
                end = partial(victim.send_signal, signal.SIGKILL)
                gateway.lie_in_wait(victim.name, end, creation=each, commits=point % 2 == 0)
                assert victim.wait() == -signal.SIGKILL
        assert len(territory.policies()) == POINTS * each - POINTS // 2
        gateway.stand_aside(survivor.name)
        with survivor:
            territory.wait_for_policies(expected)
            survivor.wait_until_idle()
            assert survivor.terminate() == 0

    assert territory.policies() == expected
    assert errors_of(survivor.log_lines()) == []
    assert territory.writes(position) == ["create networkpolicies"] * len(expected)
    assert all_succeeded(territory.control_plane.audit_events(territory.user, WRITES, since=position))


def all_succeeded(events: list[Manifest]) -> bool:
    return {event["responseStatus"]["code"] for event in events} == {201}
