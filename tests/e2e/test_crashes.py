"""A process that is killed at six points of one convergence leaves nothing undone and nothing done twice."""

import signal
from functools import partial

import pytest
import yaml

from tests.e2e.gateways import DeadlyGateway
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import WRITES, Manifest, Sandbox

POINTS = 6


@pytest.fixture
def gateway(sandbox: Sandbox) -> DeadlyGateway:
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    return DeadlyGateway(sandbox.control_plane, document["users"][0]["user"]["token"])


def process_behind(gateway: DeadlyGateway, sandbox: Sandbox, name: str) -> ResourceManager:
    """A process that knows its API server by the gateway alone, and shows its own name there."""
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"] = {"server": gateway.url}
    document["users"][0]["user"] = {"token": name}
    kubeconfig = sandbox.folder / f"{name}.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
    connection = {"kubeconfig": str(kubeconfig)}
    config = {**sandbox.configuration(offline_settings(sandbox)), "sourceClientConnection": connection}
    return ResourceManager(sandbox.folder, config, name=name)


def test_six_crashes_cost_no_policy_and_write_none_twice(sandbox: Sandbox, gateway: DeadlyGateway) -> None:
    manifests = landscape(sandbox, shoots=6)
    sandbox.create(*manifests)
    survivor = process_behind(gateway, sandbox, "survivor")
    expected = simulated(sandbox, manifests, survivor.config_file)
    position = sandbox.control_plane.audit_position()
    each = len(expected) // POINTS
    assert each > 1

    with gateway:
        for point in range(POINTS):
            with process_behind(gateway, sandbox, f"victim-{point}") as victim:
                end = partial(victim.send_signal, signal.SIGKILL)
                gateway.lie_in_wait(victim.name, end, creation=each, commits=point % 2 == 0)
                assert victim.wait() == -signal.SIGKILL
        assert len(sandbox.policies()) == POINTS * each - POINTS // 2
        gateway.stand_aside(survivor.name)
        with survivor:
            sandbox.wait_for_policies(expected)
            survivor.wait_until_idle()
            assert survivor.terminate() == 0

    assert sandbox.policies() == expected
    assert errors_of(survivor.log_lines()) == []
    assert sandbox.writes(position) == ["create networkpolicies"] * len(expected)
    assert all_succeeded(sandbox.control_plane.audit_events(sandbox.user, WRITES, since=position))


def all_succeeded(events: list[Manifest]) -> bool:
    return {event["responseStatus"]["code"] for event in events} == {201}
