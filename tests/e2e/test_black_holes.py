"""Connections that stay and carry nothing: the process gives them up, works on over new ones, or stops in time."""

from collections import Counter

import pytest

from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.hasty import QUICK_TO_NOTICE_SILENCE, HastyResourceManager
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import WRITES, Manifest, Sandbox, pair, service

LEASE = "gardener-resource-manager"


def election(sandbox: Sandbox) -> Manifest:
    return {"leaderElection": {"leaderElect": True, "resourceNamespace": sandbox.home}}


def lease_of(sandbox: Sandbox) -> Manifest:
    spec: Manifest = sandbox.get("Lease", sandbox.home, LEASE)["spec"]
    return spec


def test_a_leader_whose_connections_fall_silent_goes_on_leading_and_watching_over_new_ones(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    config = sandbox.configuration(**election(sandbox))
    with HastyResourceManager(sandbox.folder, config, QUICK_TO_NOTICE_SILENCE) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        before = lease_of(sandbox)

        proxy.strand()
        sandbox.create(service(shop, "till"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
        process.wait_for(lambda: lease_of(sandbox)["renewTime"] > before["renewTime"], "has not renewed its lease")

        silent = [line["error"] for line in process.log_lines("Watch interrupted")]
        assert any("did not answer" in problem for problem in silent), silent
        after = lease_of(sandbox)
        assert (after["holderIdentity"], after["leaseTransitions"]) == (
            before["holderIdentity"],
            before["leaseTransitions"],
        )


def test_writes_that_get_no_answer_are_sent_again_over_new_connections(sandbox: Sandbox, proxy: FaultProxy) -> None:
    shop = sandbox.namespace("shop")
    names = [f"s{number}" for number in range(30)]
    sandbox.create(*(service(shop, name) for name in names))
    slow = sandbox.configuration(source={"qps": 8, "burst": 1})
    position = sandbox.control_plane.audit_position()
    with HastyResourceManager(sandbox.folder, slow, QUICK_TO_NOTICE_SILENCE) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 10, "has not begun")

        proxy.strand()
        sandbox.wait_for_policies({policy for name in names for policy in pair("shop", f"{name}-tcp-8080")})

        given_up = [line for line in process.log_lines("Could not carry out") if "did not answer" in line["error"]]
        assert given_up
    # A write that was stored, and whose answer was lost, is not made twice.
    assert Counter(sandbox.writes(position))["create networkpolicies"] <= 60 + len(given_up)


@pytest.mark.slow
def test_a_leader_in_a_black_hole_stops_writing_and_ends_within_the_renew_deadline(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(*(service(shop, f"s{number}") for number in range(100)))
    slow = sandbox.configuration(source={"qps": 5, "burst": 1}, **election(sandbox))
    with ResourceManager(sandbox.folder, slow) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 10, "has not begun")

        with proxy.black_hole():
            sandbox.wait_for_the_audit_log()
            position = sandbox.control_plane.audit_position()
            assert process.wait() == 1
            # What it had sent is lost, as it would be on its way through a broken network.
            proxy.reset_all()

        assert process.why_it_failed() == f"lost the lease {sandbox.home}/{LEASE}: it could not be renewed for 10 s"
        assert sandbox.control_plane.audit_events(sandbox.user, WRITES, since=position) == []
        assert 10 <= len(sandbox.policies()) < 200
