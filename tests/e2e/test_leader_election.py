"""Of several processes one writes; another takes over soon when it goes, and nobody writes without the lease."""

import itertools
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeAlias

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.faults import no_api_server, silent_api_server
from tests.e2e.permissions import ACCOUNT, account_kubeconfig, grant, revoke, user_of
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import WRITES, Manifest, Sandbox, pair, service

LEASE = "gardener-resource-manager"
SHORT = {"leaseDuration": "5s", "renewDeadline": "3s", "retryPeriod": "1s"}
Fault: TypeAlias = Callable[[ControlPlane], AbstractContextManager[None]]


def election(sandbox: Sandbox, **settings: str) -> Manifest:
    return sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home, **settings})


def lease_of(sandbox: Sandbox) -> Manifest:
    spec: Manifest = sandbox.get("Lease", sandbox.home, LEASE)["spec"]
    return spec


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    return shop


@pytest.fixture
def leader(sandbox: Sandbox, shop: str) -> Iterator[ResourceManager]:
    """A process that leads and has done what there was to do, with the default times."""
    with ResourceManager(sandbox.folder, election(sandbox), name="leader") as running:
        running.wait_until_at_work()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        running.wait_until_idle()
        yield running


def test_a_standby_is_ready_and_writes_nothing_until_the_leader_goes(
    sandbox: Sandbox, leader: ResourceManager, shop: str
) -> None:
    account = sandbox.namespace("standby", handled=False)
    grant(sandbox.control_plane, account)
    allow_lease(sandbox, account)
    kubeconfig = account_kubeconfig(sandbox.control_plane, account, sandbox.folder)
    config = {**election(sandbox), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}
    with ResourceManager(sandbox.folder, config, name="standby") as standby:
        standby.wait_ready()
        new_leader = standby.wait_for_line("Leader election")
        sandbox.create(service(shop, "till"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))

        assert (new_leader["what"], new_leader["detail"]) == ("new leader", lease_of(sandbox)["holderIdentity"])
        assert standby.metric("leader_election_master_status", name=LEASE) == 0
        assert leader.metric("leader_election_master_status", name=LEASE) == 1
        assert sandbox.control_plane.audit_events(user_of(account), WRITES) == []

        assert leader.terminate() == 0
        standby.wait_for(lambda: lease_of(sandbox)["leaseTransitions"] > 0, "has not taken over")
        sandbox.create(service(shop, "stock"))
        sandbox.wait_for_policies(
            {each for name in ("cart", "till", "stock") for each in pair("shop", f"{name}-tcp-8080")}
        )
        assert standby.metric("leader_election_master_status", name=LEASE) == 1
    revoke(sandbox.control_plane, account)


def allow_lease(sandbox: Sandbox, account: str) -> None:
    """Let a service account of another namespace compete for the lease."""
    sandbox.control_plane.kubectl(
        *("create", "rolebinding", "standby", "-n", sandbox.home),
        *("--role", f"{ACCOUNT}:{sandbox.home}", f"--serviceaccount={account}:{ACCOUNT}"),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_stop_gives_the_lease_back(sandbox: Sandbox, leader: ResourceManager, number: signal.Signals) -> None:
    assert lease_of(sandbox)["holderIdentity"]

    leader.send_signal(number)

    assert leader.wait() == 0

    assert lease_of(sandbox).get("holderIdentity", "") == ""
    assert [line["msg"] for line in leader.log_lines("Stop")] == ["Stopping", "Stopped"]


def test_a_leader_that_is_killed_is_succeeded_when_its_lease_has_run_out(sandbox: Sandbox, shop: str) -> None:
    with ResourceManager(sandbox.folder, election(sandbox, **SHORT), name="leader") as leader:
        leader.wait_until_at_work()
        held = lease_of(sandbox)["holderIdentity"]
    with ResourceManager(sandbox.folder, election(sandbox, **SHORT), name="successor") as successor:
        successor.wait_until_at_work()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        assert lease_of(sandbox)["holderIdentity"] not in {held, ""}
        assert lease_of(sandbox)["leaseTransitions"] == 1


def test_a_leader_that_is_killed_is_succeeded_although_others_write_to_the_metadata_of_its_lease(
    sandbox: Sandbox, shop: str
) -> None:
    with ResourceManager(sandbox.folder, election(sandbox, **SHORT), name="leader") as leader:
        leader.wait_until_at_work()
    with ResourceManager(sandbox.folder, election(sandbox, **SHORT), name="successor") as successor:
        written = itertools.count()

        def succeeded() -> bool:
            note = {"metadata": {"annotations": {"example.org/seen": str(next(written))}}}
            sandbox.patch("Lease", sandbox.home, LEASE, note)
            return bool(lease_of(sandbox)["leaseTransitions"])

        successor.wait_for(succeeded, "has not taken over")


def test_a_leader_whose_lease_somebody_else_takes_ends_with_the_reason(
    sandbox: Sandbox, leader: ResourceManager
) -> None:
    sandbox.patch("Lease", sandbox.home, LEASE, {"spec": {"holderIdentity": "usurper"}})

    assert leader.wait() == 1
    assert leader.why_it_failed() == f"lost the lease {sandbox.home}/{LEASE}: usurper holds it"
    assert lease_of(sandbox)["holderIdentity"] == "usurper"


@pytest.mark.parametrize("fault", [no_api_server, silent_api_server])
def test_a_leader_that_cannot_renew_its_lease_ends(sandbox: Sandbox, shop: str, fault: Fault) -> None:
    with ResourceManager(sandbox.folder, election(sandbox, **SHORT), name="leader") as leader:
        leader.wait_until_at_work()
        with fault(sandbox.control_plane):
            assert leader.wait() == 1
        assert leader.why_it_failed() == f"lost the lease {sandbox.home}/{LEASE}: it could not be renewed for 3 s"


@pytest.mark.parametrize("fault", [no_api_server, silent_api_server])
def test_a_stop_does_not_wait_long_for_an_api_server_that_is_away(
    sandbox: Sandbox, leader: ResourceManager, fault: Fault
) -> None:
    with fault(sandbox.control_plane):
        assert leader.terminate() == 0
    assert leader.log_lines("The lease could not be given back, it runs out by itself")


def test_a_second_signal_ends_it_at_once(sandbox: Sandbox, leader: ResourceManager) -> None:
    with silent_api_server(sandbox.control_plane):
        leader.send_signal(signal.SIGTERM)
        leader.wait_for_line("Stopping")
        leader.send_signal(signal.SIGTERM)
        assert leader.wait() == 1


def test_a_candidate_that_waits_for_an_api_server_says_so_once_and_can_be_stopped(sandbox: Sandbox) -> None:
    config = election(sandbox, **SHORT)
    with no_api_server(sandbox.control_plane), ResourceManager(sandbox.folder, config) as process:
        process.wait_for(lambda: process.failed_requests() >= 9, "has not tried again and again")
        assert process.terminate() == 0
    assert len(process.log_lines("API server is unreachable")) == 1
    assert [line["what"] for line in process.log_lines("Leader election", level="error")] == ["failed"]
