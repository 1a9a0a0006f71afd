"""An API server that restarts, is away, forgets or is restored: the process says so once, and catches up."""

import contextlib
from collections.abc import Callable

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.faults import no_api_server
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox, pair, service

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
    sandbox: Sandbox, resource_manager: ResourceManager, restart: Callable[[ControlPlane], None]
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"), service(shop, "till"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
    resource_manager.wait_until_idle()  # an answer may be on its way still

    restart(sandbox.control_plane)
    sandbox.create(service(shop, "stock"))
    sandbox.delete("Service", shop, "till")
    sandbox.delete("NetworkPolicy", shop, "egress-to-cart-tcp-8080")

    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "stock-tcp-8080"))
    resource_manager.wait_ready()
    # A quick restart may lie between two requests, so that there was no outage to notice.
    noticed = [line["msg"] for line in resource_manager.log_lines(level="error")]
    assert set(noticed) <= {OUTAGE}
    assert len(resource_manager.log_lines(RECOVERY)) == len(noticed)


def test_an_outage_is_told_once_and_its_end_is_told_once(sandbox: Sandbox, resource_manager: ResourceManager) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
    resource_manager.wait_until_idle()

    with no_api_server(sandbox.control_plane):
        resource_manager.wait_for(lambda: resource_manager.failed_requests() >= 4, "has not tried again and again")
    sandbox.create(service(shop, "stock"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "stock-tcp-8080"))

    (line,) = resource_manager.log_lines(level="error")
    assert line["msg"] == OUTAGE
    assert line["error"] == f"cannot connect to {sandbox.control_plane.url}: Connection refused"
    assert len(resource_manager.log_lines(RECOVERY)) == 1


def test_an_api_server_that_crashes_in_mid_work_leaves_nothing_undone(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=4)
    sandbox.create(*manifests)
    slow = sandbox.configuration(offline_settings(sandbox), source={"qps": 60, "burst": 1})

    with ResourceManager(sandbox.folder, slow) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 30, "has not begun")
        sandbox.control_plane.restart_api_server(grace=0)
        expected = simulated(sandbox, manifests, process.config_file)
        sandbox.wait_for_policies(expected)
        assert sandbox.policies() == expected


def test_what_a_restored_backup_undid_is_repaired(sandbox: Sandbox) -> None:
    shop, plane = sandbox.namespace("shop"), sandbox.control_plane
    sandbox.create(service(shop, "cart"))
    # More than a new API server writes by itself, so that it is behind what the process has seen.
    lost = ((f"/api/v1/namespaces/{shop}/configmaps", {"metadata": {"name": f"lost-{n}"}}) for n in range(200))

    with contextlib.ExitStack() as stack:
        with plane.restored_afterwards():
            process = stack.enter_context(ResourceManager(sandbox.folder, sandbox.configuration()))
            process.wait_ready()
            plane.create_all(lost)
            sandbox.create(service(shop, "till"))
            sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
            process.wait_until_idle()
            position = plane.audit_position()

        # The backup holds one Service and none of the policies that the caches still show.
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        sandbox.wait_for_the_audit_log()

        told = {line["cause"] for line in process.log_lines("Watch interrupted", level="warning")}
        listed = {event["objectRef"]["resource"] for event in plane.lists(sandbox.user, since=position)}
        assert "restored" in told
        assert {"services", "networkpolicies"} <= listed
        for resource in ("services", "networkpolicies.networking.k8s.io"):
            assert process.metric("hedgerow_watch_restarts_total", cause="restored", resource=resource) == 1


def test_a_process_that_finds_no_api_server_waits_for_it(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))

    with contextlib.ExitStack() as stack:
        with no_api_server(sandbox.control_plane):
            process = stack.enter_context(ResourceManager(sandbox.folder, sandbox.configuration()))
            process.wait_for_line(OUTAGE)
            process.wait_for(lambda: process.failed_requests() >= 4, "has not tried again and again")
            assert process.probe("/readyz")[0] == 500
            assert process.probe("/readyz/source-informer-sync")[1].endswith(": informers not synced yet\n")
        process.wait_ready()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        assert len(process.log_lines(OUTAGE)) == len(process.log_lines(RECOVERY)) == 1
