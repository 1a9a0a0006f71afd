"""What blocks the main loop of a leader does not cost it the lease, unless it blocks the loop for ever."""

import signal
from datetime import datetime, timedelta
from typing import Final

import pytest

from tests.control_plane import PATIENCE
from tests.e2e.hasty import HastyResourceManager
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

LEASE: Final = "gardener-resource-manager"
BLOCKED: Final = 20
"""Seconds, longer than a lease lasts."""
BLOCKS: Final = f"""
import signal, sys, threading, time
def compute(*_):
    end = time.monotonic() + {BLOCKED}
    while time.monotonic() < end:
        pass
    print("computed", flush=True)
signal.signal(signal.SIGUSR1, compute)
signal.signal(signal.SIGUSR2, lambda *_: threading.Event().wait())
"""
"""One signal keeps the main thread computing for long, the other lets it wait for ever."""


def blockable(sandbox: Sandbox, **constants: float) -> HastyResourceManager:
    config = sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home})
    times = {f"hedgerow_adapters.leader_election.elector_thread.{name}": value for name, value in constants.items()}
    return HastyResourceManager(sandbox.folder, config, times, before=BLOCKS)


def lease_of(sandbox: Sandbox) -> Manifest:
    spec: Manifest = sandbox.get("Lease", sandbox.home, LEASE)["spec"]
    return spec


def renewed_at(lease: Manifest) -> datetime:
    return datetime.fromisoformat(lease["renewTime"])


@pytest.mark.slow
def test_a_leader_that_computes_for_longer_than_its_lease_lasts_goes_on_leading(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    with blockable(sandbox) as process:
        process.wait_until_at_work()
        before = lease_of(sandbox)

        process.send_signal(signal.SIGUSR1)
        process.wait_for(lambda: "computed" in process.output(), "has not come to its end")
        after = lease_of(sandbox)
        sandbox.create(service(shop, "cart"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))

        assert renewed_at(after) - renewed_at(before) > timedelta(seconds=BLOCKED / 2)
        assert after["leaseTransitions"] == before["leaseTransitions"]
        assert lease_of(sandbox)["holderIdentity"] == before["holderIdentity"]
        assert process.metric("leader_election_master_status", name=LEASE) == 1


def test_a_leader_whose_main_loop_never_answers_again_ends_and_says_where_it_stands(sandbox: Sandbox) -> None:
    sandbox.namespace("shop")
    with blockable(sandbox, PATIENCE=6.0) as process:
        process.wait_until_at_work()

        process.send_signal(signal.SIGUSR2)

        assert process.wait() == 1
        reason = f"left the election for the lease {sandbox.home}/{LEASE}: the main loop has not answered for 6 s"
        line = process.log_lines()[-1]
        assert (line["msg"], line["error"]) == ("Process is stuck", reason)
        assert ", in wait\n" in line["stacktrace"]


ASKS_WHILE_CONTROLLERS_ARE_DECLARED: Final = f"""
import urllib.request
from hedgerow_entrypoints.components.registry import Component
running = Component.running
def asking(component, configuration, cluster_id):
    url = f"http://127.0.0.1:{{configuration.server.health_probes.port}}/healthz/ping"
    print("answered", urllib.request.urlopen(url, timeout={PATIENCE}).status, flush=True)
    return running(component, configuration, cluster_id)
Component.running = asking
"""


def test_probes_are_answered_while_controllers_are_imported(sandbox: Sandbox) -> None:
    sandbox.namespace("shop")
    before = ASKS_WHILE_CONTROLLERS_ARE_DECLARED
    with HastyResourceManager(sandbox.folder, sandbox.configuration(), {}, before=before) as process:
        process.wait_for(lambda: '"msg":"Controller works"' in process.output(), "does not work")

        assert "answered 200\n" in process.output()
