"""An API server whose answers come late: nothing fails, nothing is written twice, and the lease is kept."""

from collections import Counter
from datetime import datetime, timedelta

import pytest
import yaml

from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.gateways import SlowGateway
from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import Sandbox, pair, service

LATENCY = 1.5
"""Seconds."""


@pytest.mark.slow
def test_writes_whose_watch_events_overtake_their_answers_are_no_errors(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    names = [f"s{number}" for number in range(30)]
    sandbox.create(*(service(shop, name) for name in names))
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    with SlowGateway(sandbox.control_plane, document["users"][0]["user"]["token"], seconds=LATENCY) as gateway:
        document["clusters"][0]["cluster"] = {"server": gateway.url}
        sandbox.kubeconfig = sandbox.folder / "slow.kubeconfig"
        sandbox.kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
        position = sandbox.control_plane.audit_position()
        with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
            sandbox.wait_for_policies({policy for name in names for policy in pair("shop", f"{name}-tcp-8080")})
            process.wait_until_idle()

            assert errors_of(process.log_lines()) == []
            assert process.metric("controller_runtime_reconcile_errors_total", controller="networkpolicy") == 0
            assert Counter(sandbox.writes(position)) == {"create networkpolicies": 2 * len(names)}


@pytest.mark.slow
def test_a_process_to_which_every_byte_comes_three_seconds_late_leads_and_keeps_its_lease(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    """Until a connection has its first answer it takes twice that: it is not given up before."""
    sandbox.namespace("shop")
    config = sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home})

    def renewed_at() -> datetime:
        return datetime.fromisoformat(
            sandbox.get("Lease", sandbox.home, "gardener-resource-manager")["spec"]["renewTime"]
        )

    with proxy.delaying(1.5), ResourceManager(sandbox.folder, config) as process:
        process.wait_until_at_work(timeout=120)
        began = renewed_at()
        process.wait_for(
            # Longer than its holder may do without.
            lambda: renewed_at() - began > timedelta(seconds=11),
            "has not renewed its lease for 11 s",
            120,
        )

        assert process.log_lines("Leader election", level="error") == []
