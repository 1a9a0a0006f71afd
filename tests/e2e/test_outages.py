"""An API server that restarts, is away or forgets: the process says so once, and catches up with what it missed."""

import contextlib
from collections.abc import Callable

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.faults import no_api_server
from tests.e2e.landscapes import controller_settings, landscape, simulated
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.territory import Territory, pair, service

OUTAGE = "API server is unreachable, trying again"
RECOVERY = "API server is reachable again"


def restart_gracefully(control_plane: ControlPlane) -> None:
    control_plane.restart_api_server()


def crash_and_restart(control_plane: ControlPlane) -> None:
    control_plane.restart_api_server(grace=0)


def crash_forget_and_restart(control_plane: ControlPlane) -> None:
    control_plane.expire_resource_versions()


@pytest.mark.parametrize("restart", [restart_gracefully, crash_and_restart, crash_forget_and_restart])
def test_what_changes_while_the_api_server_restarts_is_not_missed(
    territory: Territory, resource_manager: ResourceManager, restart: Callable[[ControlPlane], None]
) -> None:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"), service(shop, "till"))
    territory.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
    resource_manager.wait_until_idle()  # an answer may be on its way still

    restart(territory.control_plane)
    territory.create(service(shop, "stock"))
    territory.delete("Service", shop, "till")
    territory.delete("NetworkPolicy", shop, "egress-to-cart-tcp-8080")

    territory.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "stock-tcp-8080"))
    resource_manager.wait_ready()
    # A quick restart may lie between two requests, so that there was no outage to notice.
    noticed = [line["msg"] for line in resource_manager.log_lines(level="error")]
    assert set(noticed) <= {OUTAGE}
    assert len(resource_manager.log_lines(RECOVERY)) == len(noticed)


def test_an_outage_is_told_once_and_its_end_is_told_once(
    territory: Territory, resource_manager: ResourceManager
) -> None:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"))
    territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
    resource_manager.wait_until_idle()

    with no_api_server(territory.control_plane):
        resource_manager.wait_for(lambda: resource_manager.failed_requests() >= 4, "has not tried again and again")
    territory.create(service(shop, "stock"))
    territory.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "stock-tcp-8080"))

    (line,) = resource_manager.log_lines(level="error")
    assert line["msg"] == OUTAGE
    assert line["error"] == f"cannot connect to {territory.control_plane.url}: Connection refused"
    assert len(resource_manager.log_lines(RECOVERY)) == 1


def test_an_api_server_that_crashes_in_mid_work_leaves_nothing_undone(territory: Territory) -> None:
    manifests = landscape(territory, shoots=4)
    territory.create(*manifests)
    slow = territory.configuration(controller_settings(territory), source={"qps": 60, "burst": 1})

    with ResourceManager(territory.folder, slow) as process:
        process.wait_for(lambda: len(territory.policies()) >= 30, "has not begun")
        territory.control_plane.restart_api_server(grace=0)
        expected = simulated(territory, manifests, process.config_file)
        territory.wait_for_policies(expected)
        assert territory.policies() == expected


def test_a_process_that_finds_no_api_server_waits_for_it(territory: Territory) -> None:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"))

    with contextlib.ExitStack() as stack:
        with no_api_server(territory.control_plane):
            process = stack.enter_context(ResourceManager(territory.folder, territory.configuration()))
            process.wait_for_line(OUTAGE)
            process.wait_for(lambda: process.failed_requests() >= 4, "has not tried again and again")
            assert process.probe("/readyz")[0] == 500
            assert process.probe("/readyz/source-informer-sync")[1].endswith(": informers not synced yet\n")
        process.wait_ready()
        territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
        assert len(process.log_lines(OUTAGE)) == len(process.log_lines(RECOVERY)) == 1
