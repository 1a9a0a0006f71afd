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
from tests.e2e.resource_manager import WORKING, ResourceManager
from tests.e2e.territory import WRITES, Manifest, Territory, pair, service

LEASE = "gardener-resource-manager"
SHORT = {"leaseDuration": "5s", "renewDeadline": "3s", "retryPeriod": "1s"}
Fault: TypeAlias = Callable[[ControlPlane], AbstractContextManager[None]]


def election(territory: Territory, **settings: str) -> Manifest:
    return territory.configuration(
        leaderElection={"leaderElect": True, "resourceNamespace": territory.home, **settings}
    )


def lease_of(territory: Territory) -> Manifest:
    spec: Manifest = territory.get("Lease", territory.home, LEASE)["spec"]
    return spec


@pytest.fixture
def shop(territory: Territory) -> str:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"))
    return shop


@pytest.fixture
def leader(territory: Territory, shop: str) -> Iterator[ResourceManager]:
    """A process that leads and has done what there was to do, with the default times."""
    with ResourceManager(territory.folder, election(territory), name="leader") as running:
        running.wait_for_line(f"{WORKING} as the leader")
        territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
        running.wait_until_idle()
        yield running


def test_a_standby_is_ready_and_writes_nothing_until_the_leader_goes(
    territory: Territory, leader: ResourceManager, shop: str
) -> None:
    account = territory.namespace("standby", handled=False)
    grant(territory.control_plane, account)
    allow_lease(territory, account)
    kubeconfig = account_kubeconfig(territory.control_plane, account, territory.folder)
    config = {**election(territory), "sourceClientConnection": {"kubeconfig": str(kubeconfig)}}
    with ResourceManager(territory.folder, config, name="standby") as standby:
        standby.wait_ready()
        new_leader = standby.wait_for_line("Leader election")
        territory.create(service(shop, "till"))
        territory.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))

        assert (new_leader["what"], new_leader["detail"]) == ("new leader", lease_of(territory)["holderIdentity"])
        assert standby.metric("leader_election_master_status", name=LEASE) == 0
        assert leader.metric("leader_election_master_status", name=LEASE) == 1
        assert territory.control_plane.audit_events(user_of(account), WRITES) == []

        assert leader.terminate() == 0
        standby.wait_for(lambda: lease_of(territory)["leaseTransitions"] > 0, "has not taken over")
        territory.create(service(shop, "stock"))
        territory.wait_for_policies(
            {each for name in ("cart", "till", "stock") for each in pair("shop", f"{name}-tcp-8080")}
        )
        assert standby.metric("leader_election_master_status", name=LEASE) == 1
    revoke(territory.control_plane, account)


def allow_lease(territory: Territory, account: str) -> None:
    """Let a service account of another namespace compete for the lease."""
    territory.control_plane.kubectl(
        *("create", "rolebinding", "standby", "-n", territory.home),
        *("--role", f"{ACCOUNT}:{territory.home}", f"--serviceaccount={account}:{ACCOUNT}"),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_stop_gives_the_lease_back(territory: Territory, leader: ResourceManager, number: signal.Signals) -> None:
    assert lease_of(territory)["holderIdentity"]

    leader.send_signal(number)

    assert leader.wait() == 0

    assert lease_of(territory).get("holderIdentity", "") == ""
    assert [line["msg"] for line in leader.log_lines("Stop")] == ["Stopping", "Stopped"]


def test_a_leader_that_is_killed_is_succeeded_when_its_lease_has_run_out(territory: Territory, shop: str) -> None:
    with ResourceManager(territory.folder, election(territory, **SHORT), name="leader") as leader:
        leader.wait_for_line(f"{WORKING} as the leader")
        held = lease_of(territory)["holderIdentity"]
    with ResourceManager(territory.folder, election(territory, **SHORT), name="successor") as successor:
        successor.wait_for_line(f"{WORKING} as the leader")
        territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
        assert lease_of(territory)["holderIdentity"] not in {held, ""}
        assert lease_of(territory)["leaseTransitions"] == 1


def test_a_leader_that_is_killed_is_succeeded_although_others_write_to_the_metadata_of_its_lease(
    territory: Territory, shop: str
) -> None:
    with ResourceManager(territory.folder, election(territory, **SHORT), name="leader") as leader:
        leader.wait_for_line(f"{WORKING} as the leader")
    with ResourceManager(territory.folder, election(territory, **SHORT), name="successor") as successor:
        written = itertools.count()

        def succeeded() -> bool:
            note = {"metadata": {"annotations": {"example.org/seen": str(next(written))}}}
            territory.patch("Lease", territory.home, LEASE, note)
            return bool(lease_of(territory)["leaseTransitions"])

        successor.wait_for(succeeded, "has not taken over")


def test_a_leader_whose_lease_somebody_else_takes_ends_with_the_reason(
    territory: Territory, leader: ResourceManager
) -> None:
    territory.patch("Lease", territory.home, LEASE, {"spec": {"holderIdentity": "usurper"}})

    assert leader.wait() == 1
    assert leader.output().splitlines()[-1] == f"lost the lease {territory.home}/{LEASE}: usurper holds it"
    assert lease_of(territory)["holderIdentity"] == "usurper"


@pytest.mark.parametrize("fault", [no_api_server, silent_api_server])
def test_a_leader_that_cannot_renew_its_lease_ends(territory: Territory, shop: str, fault: Fault) -> None:
    with ResourceManager(territory.folder, election(territory, **SHORT), name="leader") as leader:
        leader.wait_for_line(f"{WORKING} as the leader")
        with fault(territory.control_plane):
            assert leader.wait() == 1
        assert (
            leader.output().splitlines()[-1]
            == f"lost the lease {territory.home}/{LEASE}: it could not be renewed for 3 s"
        )


@pytest.mark.parametrize("fault", [no_api_server, silent_api_server])
def test_a_stop_does_not_wait_long_for_an_api_server_that_is_away(
    territory: Territory, leader: ResourceManager, fault: Fault
) -> None:
    with fault(territory.control_plane):
        assert leader.terminate() == 0
    assert leader.log_lines("The lease could not be given back, it runs out by itself")


def test_a_second_signal_ends_it_at_once(territory: Territory, leader: ResourceManager) -> None:
    with silent_api_server(territory.control_plane):
        leader.send_signal(signal.SIGTERM)
        leader.wait_for_line("Stopping")
        leader.send_signal(signal.SIGTERM)
        assert leader.wait() == 1


def test_a_candidate_that_waits_for_an_api_server_says_so_once_and_can_be_stopped(territory: Territory) -> None:
    config = election(territory, **SHORT)
    with no_api_server(territory.control_plane), ResourceManager(territory.folder, config) as process:
        process.wait_for(lambda: process.failed_requests() >= 9, "has not tried again and again")
        assert process.terminate() == 0
    assert len(process.log_lines("API server is unreachable")) == 1
    assert [line["what"] for line in process.log_lines("Leader election", level="error")] == ["failed"]
